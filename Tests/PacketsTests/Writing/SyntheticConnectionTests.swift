import Streams
import Testing

@testable import Packets

/// The packets of proxied connections, checked with the tests' own checksums and arithmetic.
@Suite struct SyntheticConnectionTests {
    static let v6 = (Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 1), 40000), Endpoint(IPAddress(v6: 0, 1), 443))

    @Test func aConversation() {
        var exchange = Exchange(initialSequence: PerDirection(fromClient: 1000, fromServer: 5000))
        exchange.open()
        exchange.data(Array("hello".utf8), .fromClient)
        exchange.data(Array("good day".utf8), .fromServer)
        exchange.finish(.fromClient)
        exchange.data(Array("bye".utf8), .fromServer)
        exchange.finish(.fromServer)
        #expect(exchange.summary == ["> S", "< SA", "> A", "> PA 5", "< PA 8", "> FA", "< A", "< PA 3", "< FA", "> A"])
        #expect(exchange.packets.map(\.sequence) == [1000, 5000, 1001, 1001, 5001, 1006, 5009, 5009, 5012, 1007])
        #expect(exchange.packets.map(\.acknowledgment) == [0, 1001, 5001, 5001, 1006, 5009, 1007, 1007, 1007, 5013])
        #expect(
            exchange.kinds == [
                .handshake, .handshake, .handshake, .data, .data, .end, .acknowledgment, .data, .end, .acknowledgment,
            ])
        #expect(exchange.packets.allSatisfy { $0.faults.isEmpty })
        #expect(exchange.packets[0].options == [2, 4, 0xff, 0xd7, 1, 3, 3, 7])
        #expect(exchange.packets[2].options.isEmpty)
        #expect(exchange.packets[3].payload == Array("hello".utf8))
        #expect(exchange.packets[0].source == [10, 0, 0, 1] && exchange.packets[0].destination == [10, 0, 0, 2])
        // Identifications count up per sender.
        let own = exchange.packets.filter { $0.sourcePort == 40000 }.map(\.identification)
        #expect(zip(own, own.dropFirst()).allSatisfy { ($0 + 1) & 0xffff == $1 })
    }

    @Test(arguments: [1, 2, 3, 4, 5, 255, 256, 1460, 65_494, 65_495])
    func everyLengthHasRightChecksums(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 255) }
        for endpoints in [(Exchange().connection.client, Exchange().connection.server), SyntheticConnectionTests.v6] {
            var exchange = Exchange(endpoints.0, endpoints.1)
            exchange.open()
            exchange.data(bytes, .fromServer)
            exchange.data([UInt8](repeating: 0xff, count: count), .fromClient)
            #expect(exchange.packets.map(\.faults) == Array(repeating: [], count: 5))
            #expect(exchange.packets[3].payload == bytes)
            #expect(exchange.raw[3].count == count + (endpoints.0.address.isIPv4 ? 40 : 60))
        }
    }

    @Test func sequenceNumbersWrap() {
        var exchange = Exchange(initialSequence: PerDirection(fromClient: .max, fromServer: .max - 3))
        exchange.open()
        exchange.data([1, 2, 3], .fromServer)
        exchange.data([1, 2, 3], .fromServer)
        exchange.data([1], .fromClient)
        let last = UInt32.max
        #expect(exchange.packets.map(\.sequence) == [last, last - 3, 0, last - 2, 0, 0])
        #expect(exchange.packets.map(\.acknowledgment) == [0, 0, last - 2, 0, 0, 3])
    }

    @Test func receiversAcknowledgeWhatTheyDoNotAnswer() {
        var exchange = Exchange()
        exchange.open()
        let chunk = [UInt8](repeating: 7, count: 65_495)
        for _ in 0..<80 { exchange.data(chunk, .fromServer) }
        // 262,144 bytes are reached with every fifth chunk.
        #expect(exchange.summary.filter { $0 == "> A" }.count == 1 + 16)
        var unacknowledged = 0
        for (packet, line) in zip(exchange.packets, exchange.summary).dropFirst(3) {
            if line == "> A" { unacknowledged = 0 } else { unacknowledged += packet.payload.count }
            #expect(unacknowledged <= 262_144 + 65_495)
        }
        // An answer acknowledges as well.
        exchange.data([1], .fromClient)
        #expect(exchange.packets.last?.acknowledgment == exchange.packets[3].sequence &+ 80 &* 65_495)
    }

    @Test func droppedBytesAreAcknowledgedGaps() {
        var exchange = Exchange(initialSequence: PerDirection(fromClient: 0, fromServer: 100))
        exchange.open()
        exchange.data([1, 2], .fromClient)
        exchange.dropped(1000, .fromClient)
        exchange.data([3], .fromClient)
        exchange.dropped(0, .fromServer)
        #expect(exchange.summary == ["> S", "< SA", "> A", "> PA 2", "< A", "> PA 1"])
        #expect(exchange.packets[4].acknowledgment == 1003)
        #expect(exchange.packets[5].sequence == 1003)
    }

    @Test func hugeGapsAreAcknowledgedInSteps() {
        var exchange = Exchange(initialSequence: PerDirection(fromClient: 0, fromServer: 0))
        exchange.open()
        exchange.dropped(5 << 30, .fromServer)
        exchange.data([1], .fromServer)
        // The sender's number follows each acknowledgment.
        #expect(
            exchange.summary.dropFirst(3) == [
                "> A", "< A", "> A", "< A", "> A", "< A", "> A", "< A", "> A", "< A", "< PA 1",
            ])
        let acknowledgments = zip(exchange.summary, exchange.packets).filter { $0.0 == "> A" }.map(\.1.acknowledgment)
        #expect(zip(acknowledgments, acknowledgments.dropFirst()).allSatisfy { $1 &- $0 == 1 << 30 })
        #expect(exchange.packets.last?.sequence == 1 &+ 5 &* (1 << 30))
    }

    @Test func refusals() {
        var exchange = Exchange(initialSequence: PerDirection(fromClient: 77, fromServer: 5))
        exchange.connecting()
        exchange.refused()
        exchange.data([1], .fromClient)
        #expect(exchange.summary == ["> S", "< RA"])
        #expect(exchange.packets.map(\.sequence) == [77, 0] && exchange.packets.map(\.acknowledgment) == [0, 78])
        var other = Exchange(initialSequence: PerDirection(fromClient: 77, fromServer: 5))
        other.refused()
        #expect(other.raw.map { $0[20...] } == exchange.raw.map { $0[20...] })
    }

    @Test func nothingFollowsAnEnd() {
        var exchange = Exchange()
        exchange.open()
        exchange.finish(.fromClient)
        exchange.finish(.fromClient)
        exchange.data([1], .fromClient)
        exchange.dropped(1, .fromClient)
        #expect(exchange.summary == ["> S", "< SA", "> A", "> FA", "< A"])
        exchange.reset(.fromServer)
        exchange.reset(.fromClient)
        exchange.data([1], .fromServer)
        exchange.finish(.fromServer)
        #expect(exchange.summary.dropFirst(5) == ["< RA"])
    }

    @Test func anIPv4AddressAmongIPv6IsMapped() {
        var exchange = Exchange(Endpoint(IPAddress(v4: 0x0102_0304), 1), Endpoint(IPAddress(v6: 0, 1), 2))
        exchange.open()
        #expect(exchange.connection.client.description == "[::ffff:1.2.3.4]:1")
        #expect(exchange.connection.server.description == "[::1]:2")
        #expect(exchange.packets.allSatisfy { $0.faults.isEmpty && !$0.isIPv4 })
        #expect(exchange.packets[0].source == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 1, 2, 3, 4])
    }

    @Test func initialSequenceNumbersFollowFromTheNumber() {
        func sequences(_ number: Int) -> [UInt32] {
            var exchange = Exchange(number: number)
            exchange.open()
            return exchange.packets.prefix(2).map(\.sequence)
        }
        #expect(sequences(7) == sequences(7))
        #expect(Set((1...1000).flatMap(sequences)).count == 2000)
    }

    /// Whatever happens, each side's bytes follow its initial sequence number without gap or overlap, and unsent bytes are never
    /// acknowledged.
    @Test func randomEventsKeepTheArithmetic() {
        let seed = UInt64.random(in: 0 ... .max)
        print("synthetic connections: seed \(seed)")
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        for round in 0..<200 {
            var exchange = Exchange(
                number: round, initialSequence: round % 2 == 0 ? nil : PerDirection(fromClient: .max - 9, fromServer: 0)
            )
            var expected = PerDirection(fromClient: [UInt8](), fromServer: [UInt8]())
            exchange.open()
            for _ in 0..<random(40) {
                let direction: Direction = random(2) == 0 ? .fromClient : .fromServer
                let bytes = (0..<random(3000)).map { _ in UInt8(random(256)) }
                exchange.data(bytes, direction)
                expected[direction] += bytes
            }
            exchange.finish(.fromServer)
            var next: [Int: UInt32] = [:]
            var joined = PerDirection(fromClient: [UInt8](), fromServer: [UInt8]())
            for packet in exchange.packets {
                #expect(packet.faults.isEmpty)
                let direction: Direction = packet.sourcePort == 40000 ? .fromClient : .fromServer
                if let sequence = next[packet.sourcePort] { #expect(packet.sequence == sequence) }
                if packet.letters.contains("A") { #expect(packet.acknowledgment == next[packet.destinationPort]) }
                let flagged = packet.letters.contains("S") || packet.letters.contains("F") ? UInt32(1) : 0
                next[packet.sourcePort] = packet.sequence &+ UInt32(packet.payload.count) &+ flagged
                joined[direction] += packet.payload
            }
            #expect(joined == expected)
        }
    }
}
