import Packets
import TestSupport
import Testing

/// Few connections stay awake: those in which something happens.
@Suite struct AwakeConnectionsTests {
    private struct Connections: ConnectionTable {
        var awake: AwakeConnections
        var segments: [UInt32] = []
        var isAwake: [Bool] = []
        var isOver: [Bool] = []
        /// How often one was packed.
        var rests = 0
        /// Whether none can be packed.
        var refuses = false

        init(limit: Int) { awake = AwakeConnections(limit: limit) }

        mutating func open() {
            segments.append(0)
            isAwake.append(true)
            isOver.append(false)
            watch(segments.count - 1)
            segments[segments.count - 1] = 1
        }

        mutating func happens(at place: Int) {
            if !isAwake[place] {
                isAwake[place] = true
                watch(place)
            }
            segments[place] += 1
        }

        func awakeConnection(_ place: Int) -> AwakeConnections.Entry? {
            guard isAwake[place], !isOver[place] else { return nil }
            return AwakeConnections.Entry(place, number: place + 1, segments: segments[place])
        }

        mutating func rest(_ place: Int) -> Bool {
            guard !refuses else { return false }
            isAwake[place] = false
            rests += 1
            return true
        }

        var awakeCount: Int { zip(isAwake, isOver).count { $0 && !$1 } }
    }

    @Test(arguments: [0, 1, 10, 1_000]) func mostArePacked(limit: Int) {
        var connections = Connections(limit: limit)
        for _ in 0..<5_000 { connections.open() }
        #expect(connections.awakeCount >= limit && connections.awakeCount <= limit + max(1, min(limit, 256)))
    }

    @Test func asManyAsThereIsRoomForStayAwake() {
        var connections = Connections(limit: 1_000)
        for _ in 0..<1_000 { connections.open() }
        #expect(connections.rests == 0)
    }

    @Test func thoseThatAreBusyStayAwake() {
        var connections = Connections(limit: 100)
        for round in 0..<5_000 {
            connections.open()
            // Ten of the first are busy.
            for place in 0..<min(10, round) { connections.happens(at: place * 50 % (round + 1)) }
        }
        let before = connections.rests
        for _ in 0..<100 { for place in 0..<10 { connections.happens(at: place * 50) } }
        #expect(connections.rests == before)
        #expect((0..<10).allSatisfy { connections.isAwake[$0 * 50] })
    }

    /// Connections that end make room.
    @Test func thoseThatAreOverTakeNoRoom() {
        var connections = Connections(limit: 100)
        for place in 0..<5_000 {
            connections.open()
            if place >= 50 { connections.isOver[place - 50] = true }
        }
        #expect(connections.rests == 0)
    }

    /// After a burst of connections that cannot be packed, the limit holds again, whether they end or stay, and whether something
    /// happens in those that follow or not.
    @Test(arguments: [false, true], [0, 5]) func theLimitHoldsAfterABurst(theyStay: Bool, segments: UInt32) {
        var connections = Connections(limit: 100)
        connections.refuses = true
        for _ in 0..<2_000 { connections.open() }
        #expect(connections.awakeCount == 2_000)
        connections.refuses = false
        if !theyStay { for place in 0..<2_000 { connections.isOver[place] = true } }
        for _ in 0..<5_000 {
            connections.open()
            connections.segments[connections.segments.count - 1] += segments
        }
        #expect(connections.awakeCount <= 200)
    }

    /// What is remembered of connections that are over is bounded by those that are open.
    @Test func thoseThatAreOverAreForgotten() {
        var connections = Connections(limit: 100)
        connections.refuses = true
        for _ in 0..<1_000 { connections.open() }
        for _ in 0..<50_000 {
            connections.open()
            connections.isOver[connections.isOver.count - 1] = true
        }
        #expect(connections.awake.count < 3_000)
    }
}
