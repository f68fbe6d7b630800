import Streams
import TestSupport
import Testing

@testable import Packets

/// Connections are found where they were lately, and the fast path takes their next segments; that changes no event.
@Suite struct RecentFlowsTests {
    /// How long after the one before a segment comes. Segments are reported around longer pauses, and the fast path does not take those.
    private static let pauses: [Int64] = [0, 1_000, 20_000, 300_000, 1_000_000, 2_000_000, 3_000_000]
    /// The same, and sometimes for so long that connections become idle.
    private static let longPauses = pauses + [4_000_000_000_000]

    /// Few segments are lost or come again.
    private static let shifts = [Int](repeating: 0, count: 50) + [1, 3, -2]

    /// The events of random segments, what is counted, and how many segments the fast path took.
    private func events(seed: UInt64, fast: Bool) -> (events: [StreamEvent], counts: [Int], fast: Int) {
        var options = ReassemblyOptions()
        (options.awakeLimit, options.notices) = (seed % 4 == 0 ? 0 : 1_000, seed % 3 != 0)
        (options.idleLimit, options.connectionLimit) = seed % 7 == 0 ? (2, 4) : (1_000, 1_000)
        // Less than the pauses after which segments are reported.
        if seed % 6 == 0 { options.idleTimeout = Interval(nanoseconds: 15_000_000) }
        options.gapGrace = Interval(nanoseconds: 3_000_000)
        options.conflictHistory = [0, 5, 2_000][Int(seed % 9 / 3)]
        if seed % 11 == 0 { options.totalConflictHistory = 4_000 }
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        var segments = RandomSegments(
            seed: seed, pauses: seed % 5 == 0 ? Self.longPauses : Self.pauses, shifts: Self.shifts,
            usual: seed % 4 == 1 ? nil : 4_000)
        var (taken, counts) = (0, [Int]())
        for number in 1...1_500 {
            let (segment, payload, leg, time) = segments.next()
            reassembler.advance(to: time)
            reassembler.leg = leg
            // Some are truncated.
            let bytes = Array(payload.dropLast(number % 50 == 0 ? 1 : 0))
            if fast, segment.source.address.isIPv4,
                reassembler.takeNext(segment, payload: bytes.span.bytes, at: time, packet: number)
            {
                taken += 1
            } else {
                reassembler.receive(segment, payload: bytes.span.bytes, at: time, packet: number)
            }
            counts += [reassembler.heldMemory, reassembler.shared.current, reassembler.pendingDeadlines]
            counts += [reassembler.shared.historyCost]
        }
        counts += reassembler.table.flows.flatMap { [$0.number, Int($0.packets), Int($0.quietAt.nanoseconds)] }
        reassembler.finish()
        counts += [reassembler.connectionCount, reassembler.unreadSegments, reassembler.hasReachedLimit ? 1 : 0]
        return (log.events, counts, taken)
    }

    @Test func theEventsAreTheSame() {
        let first = UInt64.random(in: 0...UInt64.max / 2)
        var fast = 0
        for seed in first..<first + 200 {
            let (expected, actual) = (events(seed: seed, fast: false), events(seed: seed, fast: true))
            #expect(actual.events == expected.events, "seed \(seed)")
            #expect(actual.counts == expected.counts, "seed \(seed)")
            fast += actual.fast
        }
        #expect(fast > 5_000, "seed \(first)")
    }

    /// Whether the fast path takes the next segment, if something is unusual when it comes.
    private func isTaken(
        _ options: ReassemblyOptions = ReassemblyOptions(), _ change: (inout TCPReassembler) -> Void = { _ in }
    ) -> Bool {
        var reassembler = TCPReassembler(options: options, receiver: StreamEventLog())
        var segment = TCPSegment(
            source: Endpoint(IPAddress(v4: 1), 1), destination: Endpoint(IPAddress(v4: 2), 80), sequence: 6,
            flags: .syn, payloadLength: 0)
        let now = Timestamp(nanoseconds: 0)
        let none: [UInt8] = []
        let one: [UInt8] = [1]
        reassembler.receive(segment, payload: none.span.bytes, at: now, packet: 1)
        (segment.flags, segment.payloadLength) = (.ack, 1)
        for number in 2...50 {
            segment.sequence += 1
            reassembler.receive(segment, payload: one.span.bytes, at: now, packet: number)
        }
        segment.sequence += 1
        change(&reassembler)
        return reassembler.takeNext(segment, payload: one.span.bytes, at: now, packet: 51)
    }

    @Test func theFastPathTakesOnlyWhatIsUsual() {
        #expect(isTaken())
        #expect(!isTaken { $0.leg = .in }, "it is of another connection")
        #expect(
            !isTaken { reassembler in
                let none: [UInt8] = []
                let reset = TCPSegment(
                    source: Endpoint(IPAddress(v4: 2), 80), destination: Endpoint(IPAddress(v4: 1), 1), sequence: 0,
                    acknowledgment: 56, flags: [.rst, .ack], payloadLength: 0)
                reassembler.receive(reset, payload: none.span.bytes, at: Timestamp(nanoseconds: 0), packet: 51)
            }, "it may disprove a reset")
        #expect(!isTaken { $0.annotation = "text" }, "there is something to report")
    }

    /// An entry is found by all that it was noted by.
    @Test func entriesAreFound() throws {
        func ends(_ source: UInt32, _ from: UInt16, _ destination: UInt32, _ to: UInt16) -> RecentFlows.Ends {
            RecentFlows.Ends(Endpoint(IPAddress(v4: source), from), Endpoint(IPAddress(v4: destination), to))
        }
        var recent = RecentFlows()
        #expect(recent.find(ends(0, 0, 0, 0)) == nil)
        recent.note(ends(1, 2, 3, 4), .fromServer, id: 5, place: 6, number: 7)
        let entry = try #require(recent.find(ends(1, 2, 3, 4)))
        #expect((entry.id, entry.place, entry.direction) == (5, 6, .fromServer))
        #expect(entry.hasNumber(7) && !entry.hasNumber(8) && !entry.hasNumber(6))
        for other in [
            ends(9, 2, 3, 4), ends(1, 9, 3, 4), ends(1, 2, 9, 4), ends(1, 2, 3, 9), ends(3, 4, 1, 2), ends(0, 0, 0, 0),
        ] {
            #expect(recent.find(other) == nil)
        }
        recent.note(ends(1, 2, 3, 4), .fromClient, id: 5, place: 6, number: 1 << 40 | 7)
        let later = try #require(recent.find(ends(1, 2, 3, 4)))
        #expect(later.direction == .fromClient && later.hasNumber(1 << 40 | 7))
        // No more than a number of them are known.
        for port in 0..<UInt16(20_000) {
            recent.note(ends(1, port, 3, 80), .fromClient, id: Int(port), place: 1, number: 1)
        }
        let known = (0..<UInt16(20_000)).compactMap { port in recent.find(ends(1, port, 3, 80)).map { ($0.id, port) } }
        #expect(known.allSatisfy { $0 == Int($1) })
        for host in 0..<UInt32(20_000) {
            recent.note(ends(host, 1, 3, 80), .fromClient, id: Int(host), place: 1, number: 1)
        }
        let hosts = (0..<UInt32(20_000)).compactMap { host in recent.find(ends(host, 1, 3, 80)).map { ($0.id, host) } }
        #expect(hosts.count > 2_000 && hosts.allSatisfy { $0 == Int($1) })
        #expect((2_000...4_096).contains(known.count))
    }
}
