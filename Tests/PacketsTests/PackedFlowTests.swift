import Streams
import TestSupport
import Testing

@testable import Packets

/// Connections are packed while nothing happens in them; that changes no event.
@Suite struct PackedFlowTests {
    /// Random segments of some connections, with everything that may be in them.
    private struct Segments {
        private static let ports: [UInt16] = [1, 2, 3, 4, 5, 6]
        private var numbers: [UInt32]
        /// Those of the last SYN.
        private var starts: [UInt32]
        /// Whether connections last long.
        private let isCalm: Bool
        /// Most hosts count their packets.
        private var identifications = [UInt16](repeating: 0, count: 2 * ports.count)
        private var now: Int64 = 0
        private var generator: SeededGenerator

        init(seed: UInt64) {
            generator = SeededGenerator(seed: seed)
            (numbers, isCalm) = ([], seed % 2 == 1)
            starts = [UInt32](repeating: 0, count: 2 * Self.ports.count)
            for _ in 0..<2 * Self.ports.count { numbers.append(UInt32.random(in: 0 ... .max, using: &generator)) }
        }

        /// The next one, its payload, and its time.
        mutating func next() -> (segment: TCPSegment, payload: [UInt8], leg: Leg?, time: Timestamp) {
            let pauses: [Int64] = [0, 1_000, 1_000_000, 300_000_000, 2_000_000_000, 4_000_000_000_000]
            let rareness = Int.random(in: 0..<40, using: &generator)
            now += pauses[rareness == 0 ? 5 : rareness % 5]
            let place = Int.random(in: 0..<Self.ports.count, using: &generator)
            let isServer = Bool.random(using: &generator)
            let (own, other) = isServer ? (2 * place + 1, 2 * place) : (2 * place, 2 * place + 1)
            var flags: TCPFlags = .ack
            var number: UInt32?
            var acknowledgment = numbers[other] &- UInt32.random(in: 0...2, using: &generator)
            switch Int.random(in: 0..<(isCalm ? 300 : 30), using: &generator) {
            case 0, 1, 2:
                flags = isServer ? [.syn, .ack] : .syn
                starts[own] = numbers[own]
            case 3: flags = [.fin, .ack]
            case 4:
                // It is valid within the window.
                flags = .rst
                number = numbers[own] &+ ([0, 0, 3_000, 200_000, 2_000_000].randomElement(using: &generator) ?? 0)
            case 5: numbers[own] = UInt32.random(in: 0 ... .max, using: &generator)
            case 6, 7, 8, 9:
                // A SYN again, or an answer to it that begins with another number.
                flags = isServer ? [.syn, .ack] : .syn
                number = isServer ? UInt32.random(in: 0 ... .max, using: &generator) : starts[own]
                acknowledgment = starts[other] &+ 1
            default: break
            }
            let count = flags == .ack ? Int.random(in: 0..<4, using: &generator) : 0
            let payload = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            // Some segments were lost, others come again.
            let shift = number != nil ? 0 : [0, 0, 0, 0, 0, 1, 3, -2].randomElement(using: &generator) ?? 0
            var segment = TCPSegment(
                source: end(place, isServer), destination: end(place, !isServer),
                sequence: number ?? numbers[own] &+ UInt32(truncatingIfNeeded: shift), flags: flags,
                payloadLength: count)
            segment.acknowledgment = acknowledgment
            identifications[own] &+= [1, 1, 1, 1, 1, 1, 1, 1, 1, 3].randomElement(using: &generator) ?? 1
            segment.identification = identifications[own]
            segment.window = [0, 1, 50, 4_000, 65_535].randomElement(using: &generator) ?? 0
            if flags.contains(.syn) { segment.windowScale = UInt8.random(in: 0...9, using: &generator) }
            segment.clock = UInt32(truncatingIfNeeded: now / 1_000_000)
            if shift >= 0, number == nil {
                numbers[own] &+= UInt32(count + shift + (flags.isDisjoint(with: [.syn, .fin]) ? 0 : 1))
            }
            let leg: Leg? = place == 4 ? .in : place == 5 ? .out : nil
            return (segment, payload, leg, Timestamp(nanoseconds: now))
        }

        /// The last two are the legs of one connection; the first two are between IPv6 addresses.
        private func end(_ place: Int, _ isServer: Bool) -> Endpoint {
            let port = isServer ? 80 : place == 5 ? Self.ports[4] : Self.ports[place]
            let low = UInt64(isServer ? 2 : 1)
            return Endpoint(
                place < 2 ? IPAddress(v6: 0x2001_0db8_0000_0000, low) : IPAddress(v4: UInt32(low)), port)
        }
    }

    /// The events of random segments, what is counted, and how often a connection was packed after one.
    private func events(seed: UInt64, awakeLimit: Int) -> (events: [StreamEvent], counts: [Int], packed: Int) {
        var options = ReassemblyOptions()
        (options.awakeLimit, options.notices) = (awakeLimit, seed % 2 == 0)
        options.conflictHistory = seed % 3 == 0 ? 100 : 0
        options.totalReorderingLimit = seed % 5 == 0 ? 3_000 : 1 << 20
        (options.idleLimit, options.connectionLimit) = seed % 7 == 0 ? (2, 4) : (1_000, 1_000)
        let log = StreamEventLog()
        var reassembler = TCPReassembler(options: options, receiver: log)
        var segments = Segments(seed: seed)
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
