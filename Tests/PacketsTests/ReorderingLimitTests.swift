import Streams
import TestSupport
import Testing

@testable import Packets

/// The bytes waiting after gaps, over all connections, stay within the limit.
@Suite struct ReorderingLimitTests {
    private static func send(
        _ reassembler: inout TCPReassembler, _ port: UInt16, _ sequence: UInt32, _ count: Int, _ flags: TCPFlags = .ack,
        at time: Int
    ) {
        let segment = TCPSegment(
            source: Endpoint(IPAddress(v4: 1), port), destination: Endpoint(IPAddress(v4: 2), 80), sequence: sequence,
            flags: flags, payloadLength: count)
        let payload = [UInt8](repeating: 7, count: count)
        let now = Timestamp(nanoseconds: Int64(time) * 1_000)
        reassembler.advance(to: now)
        reassembler.receive(segment, payload: payload.span.bytes, at: now, packet: 1)
    }

    /// The largest holder's gap is declared missing, and no other's, in whatever order the sizes occur.
    @Test func theLargestIsPassedOnFirst() {
        for seed in UInt64(1)...30 {
            var generator = SeededGenerator(seed: seed)
            var options = ReassemblyOptions()
            options.totalReorderingLimit = 400_000
            let log = StreamEventLog()
            var reassembler = TCPReassembler(options: options, receiver: log)
            let ports = (UInt16(1)...8).shuffled(using: &generator)
            for port in ports { Self.send(&reassembler, port, 99, 0, .syn, at: 0) }
            let large = ports[0]
            var sent = [UInt16: UInt32]()
            var time = 0
            // One byte is missing in each; the large one holds more at any time.
            while !log.events.contains(where: {
                if case .noticed(_, _, .memoryLimit, _, _) = $0 { true } else { false }
            }) {
                for port in ports {
                    time += 1
                    for _ in 0..<(port == large ? 4 : 1) {
                        Self.send(&reassembler, port, 101 + sent[port, default: 0], 1_000, at: time)
                        sent[port, default: 0] += 1_000
                    }
                }
                #expect(reassembler.heldMemory <= 400_000, "seed \(seed)")
                guard time < 10_000 else {
                    Issue.record("seed \(seed): nothing is evicted")
                    return
                }
            }
            let place = ports.firstIndex(of: large) ?? 0
            let evicted = log.events.compactMap { event -> Int? in
                if case .noticed(let number, _, .memoryLimit, _, _) = event { number } else { nil }
            }
            #expect(evicted == [place + 1], "seed \(seed)")
            let missing = log.events.compactMap { event -> Int? in
                if case .missing(let number, _, 1, _) = event { number } else { nil }
            }
            #expect(missing == [place + 1], "seed \(seed): the gap of one byte")
            reassembler.finish()
            #expect(reassembler.heldMemory == 0, "seed \(seed)")
        }
    }

    /// The capture's clock stands still, so that the largest is not searched for.
    @Test func theLimitHoldsWhereTimeStandsStill() {
        var options = ReassemblyOptions()
        options.totalReorderingLimit = 100_000
        var reassembler = TCPReassembler(options: options, receiver: StreamEventLog())
        for port in UInt16(1)...50 {
            Self.send(&reassembler, port, 99, 0, .syn, at: 1)
            for index in UInt32(0)..<20 {
                Self.send(&reassembler, port, 101 + index * 1_000, 1_000, at: 1)
                #expect(reassembler.heldMemory <= 100_000)
            }
        }
    }

    /// What was passed on takes no memory, even if nothing more arrives while the rest waits for another gap.
    @Test func whatWasPassedOnIsReleased() {
        var reassembler = TCPReassembler(receiver: StreamEventLog())
        Self.send(&reassembler, 1, 99, 0, .syn, at: 0)
        for index in UInt32(0)..<100 {
            Self.send(&reassembler, 1, 101 + index * 1_000 + (index < 80 ? 0 : 1), 1_000, at: 1)
        }
        Self.send(&reassembler, 1, 100, 1, at: 2)
        let held = reassembler.shared.heldSides.compactMap { $0?.segments.bytes.count }
        #expect(held == [20_000])
    }

    /// Of more directions with gaps than may be remembered, the earlier are forgotten. Threads divide the limit that all connections
    /// share, and say when they reach it.
    @Test(arguments: [2, 3]) func rememberedGapsAreLimited(connections: UInt16) {
        var options = ReassemblyOptions()
        options.reorderingSegmentLimit = 0
        options.lostLimit = 4
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options.taking(CaptureShare(0, of: 2)), receiver: log)
        for port in 1...connections {
            Self.send(&reassembler, port, 99, 0, .syn, at: 0)
            Self.send(&reassembler, port, 101, 10, at: 0)
        }
        for port in 1...connections { Self.send(&reassembler, port, 100, 1, at: 0) }
        let late = log.events.filter { if case .noticed(_, _, .late, _, _) = $0 { true } else { false } }
        #expect(late.count == (connections > 2 ? 1 : 2))
        let hasReachedLimit = reassembler.hasReachedLimit
        #expect(hasReachedLimit == (connections > 2))
    }

    /// Streams that are picked up mid-stream wait only for their start to be settled: if nothing is missing, settling it early is
    /// not reported.
    @Test(arguments: [false, true])
    func streamsPickedUpAreSettledEarly(hasGaps: Bool) {
        var options = ReassemblyOptions()
        options.totalReorderingLimit = 20_000
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        for port in UInt16(1)...500 {
            Self.send(&reassembler, port, 100, 40, at: Int(port))
            Self.send(&reassembler, port, hasGaps ? 150 : 140, 40, at: Int(port))
            #expect(reassembler.heldMemory <= 20_000)
        }
        reassembler.finish()
        var (evicted, missing, bytes) = (0, 0, 0)
        for event in log.events {
            switch event {
            case .noticed(_, _, .memoryLimit, _, _): evicted += 1
            case .missing: missing += 1
            case .received(_, _, let received, _, _): bytes += received.count
            default: break
            }
        }
        #expect((evicted > 0) == hasGaps)
        #expect(missing == (hasGaps ? 500 : 0))
        #expect(bytes == 500 * 80)
    }

    /// Notices that wait for a stream's start count, too: a conflict holds both of its contents.
    @Test func conflictsBeforeTheStartIsSettledAreHeldWithinTheLimit() {
        var options = ReassemblyOptions()
        options.totalReorderingLimit = 200_000
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        var most = 0
        for port in UInt16(1)...20 {
            // The same 10,000 bytes again and again, each time others.
            for copy in 0..<8 {
                let segment = TCPSegment(
                    source: Endpoint(IPAddress(v4: 1), port), destination: Endpoint(IPAddress(v4: 2), 80),
                    sequence: 100,
                    flags: .ack, payloadLength: 10_000)
                let payload = [UInt8](repeating: UInt8(copy), count: 10_000)
                let now = Timestamp(nanoseconds: Int64(port) * 1_000)
                reassembler.advance(to: now)
                reassembler.receive(segment, payload: payload.span.bytes, at: now, packet: 1)
                most = max(most, reassembler.heldMemory)
            }
            // It holds 10,000 bytes, and 7 conflicts of twice as many.
            if port == 1 { #expect(reassembler.heldMemory > 150_000) }
        }
        #expect(most <= 200_000, "\(most)")
        reassembler.finish()
        let conflicts = log.events.count { if case .noticed(_, _, .conflict, _, _) = $0 { true } else { false } }
        // Of a stream whose start was settled early, later copies are retransmissions.
        #expect((7...20 * 7).contains(conflicts) && reassembler.heldMemory == 0, "\(conflicts)")
    }
}
