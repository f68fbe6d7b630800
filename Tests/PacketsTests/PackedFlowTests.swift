import Streams
import TestSupport
import Testing

@testable import Packets

/// Connections are packed while nothing happens in them; that changes no event.
@Suite struct PackedFlowTests {
    /// The events of random segments, what is counted, and how often a connection was packed after one.
    private func events(seed: UInt64, awakeLimit: Int) -> (events: [StreamEvent], counts: [Int], packed: Int) {
        var options = ReassemblyOptions()
        (options.awakeLimit, options.notices) = (awakeLimit, seed % 2 == 0)
        options.conflictHistory = seed % 3 == 0 ? 100 : 0
        options.totalReorderingLimit = seed % 5 == 0 ? 3_000 : 1 << 20
        (options.idleLimit, options.connectionLimit) = seed % 7 == 0 ? (2, 4) : (1_000, 1_000)
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        var segments = RandomSegments(seed: seed)
        var (packed, counts) = (0, [Int]())
        for number in 1...400 {
            let (segment, payload, leg, time) = segments.next()
            reassembler.advance(to: time)
            reassembler.leg = leg
            reassembler.receive(segment, payload: payload.span.bytes, at: time, packet: number)
            counts.append(reassembler.heldMemory)
            packed += (0..<reassembler.table.idCount).count { reassembler.table.isPacked($0) }
        }
        reassembler.finish()
        counts += [reassembler.connectionCount, reassembler.unreadSegments, reassembler.hasReachedLimit ? 1 : 0]
        return (log.events, counts, packed)
    }

    @Test func theEventsAreTheSame() {
        let first = UInt64.random(in: 0...UInt64.max / 2)
        var packed = 0
        for seed in first..<first + 300 {
            let (expected, actual) = (events(seed: seed, awakeLimit: .max), events(seed: seed, awakeLimit: 0))
            #expect(actual.events == expected.events, "seed \(seed)")
            #expect(actual.counts == expected.counts, "seed \(seed)")
            #expect(expected.packed == 0)
            packed += actual.packed
        }
        #expect(packed > 10_000)
    }

    /// Many connections: the table grows while most are packed, and looks for those again, of which some are over.
    @Test func theTableGrows() {
        func events(awakeLimit: Int) -> [StreamEvent] {
            var options = ReassemblyOptions()
            options.awakeLimit = awakeLimit
            let log = StreamEventLog()
            var reassembler = TCPReassembler(options: options, receiver: log)
            var number = 0
            func send(_ port: Int, _ sequence: UInt32, _ flags: TCPFlags) {
                number += 1
                let time = Timestamp(nanoseconds: Int64(number) * 1_000)
                let payload: [UInt8] = flags == .ack ? [UInt8(truncatingIfNeeded: port)] : []
                let segment = TCPSegment(
                    source: Endpoint(IPAddress(v4: 1), UInt16(port)), destination: Endpoint(IPAddress(v4: 2), 80),
                    sequence: sequence, flags: flags, payloadLength: payload.count)
                reassembler.advance(to: time)
                reassembler.receive(segment, payload: payload.span.bytes, at: time, packet: number)
            }
            for port in 1_000..<6_000 { send(port, 7, .syn) }
            for port in 1_000..<6_000 where port % 3 == 0 { send(port, 8, .rst) }
            for port in 1_000..<6_000 { send(port, 8, .ack) }
            for port in 7_000..<9_000 { send(port, 7, .syn) }
            for port in 1_000..<6_000 { send(port, 9, .ack) }
            reassembler.finish()
            return log.events
        }
        #expect(events(awakeLimit: 0) == events(awakeLimit: .max))
    }
}
