import Packets
import Streams
import TestSupport
import Testing

/// Fragments that were captured twice, or not whole.
@Suite struct FragmentTests {
    /// A fragment in an Ethernet frame, and how many bytes of the frame are before what it carries.
    struct Fragment {
        var frame: [UInt8]
        var headerLength: Int
    }

    static func fragments(
        _ datagram: [UInt8], of size: Int, protocol number: Int = 6, isIPv6: Bool = false
    ) -> [Fragment] {
        stride(from: 0, to: datagram.count, by: size).map { start in
            let end = min(start + size, datagram.count)
            let hasMore = end < datagram.count
            let piece = Array(datagram[start..<end])
            let frame: [UInt8]
            if isIPv6 {
                let header = [UInt8(number), 0] + big(start | (hasMore ? 1 : 0), 2) + big(7, 4)
                frame = Headers.ethernet(Headers.ipv6(header + piece, next: 44), type: 0x86dd)
            } else {
                let place = start / 8 | (hasMore ? 0x2000 : 0)
                frame = Headers.ethernet(
                    Headers.ipv4(piece, protocol: number, identification: 7, fragment: place))
            }
            return Fragment(frame: frame, headerLength: frame.count - piece.count)
        }
    }

    private static func missing(_ log: StreamEventLog) -> Int {
        log.events.reduce(0) { sum, event in
            if case .missing(_, _, let count, _) = event { sum + count } else { sum }
        }
    }

    /// Of too many incomplete ones, those that began first are abandoned.
    @Test func theOldestIncompleteDatagramsMakeRoom() {
        var file = PcapFile()
        var seconds: [[UInt8]] = []
        for number in 0..<3_000 {
            let datagram = Headers.tcp([UInt8](repeating: 7, count: 20), from: 10_000 + number, sequence: 1)
            for start in [0, 24] {
                let piece = Array(datagram[start..<min(start + 24, datagram.count)])
                let frame = Headers.ethernet(
                    Headers.ipv4(
                        piece, protocol: 6, identification: number, fragment: start / 8 | (start == 0 ? 0x2000 : 0)))
                if start == 0 { file.add(frame, at: number) } else { seconds.append(frame) }
            }
        }
        for frame in seconds.suffix(1_100).reversed() { file.add(frame, at: 3_000) }
        let (log, counters) = events(of: file.bytes)
        let opened = log.events.count { if case .opened = $0 { true } else { false } }
        #expect(opened == 1_024 && counters.packets == 4_100, "\(opened)")
        #expect(log.bytes(of: 1_024, from: .fromClient).count == 20)
    }

    /// Two taps: datagrams with the same identification follow one another, and parts of them are alike.
    @Test(arguments: [false, true]) func copiesDoNotBeginTheNextDatagram(isIPv6: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            var file = PcapFile()
            var sent: [UInt8] = []
            let count = Int.random(in: 1...5, using: &generator)
            for number in 0..<count {
                let length = Int.random(in: 40...200, using: &generator)
                let payload =
                    Bool.random(using: &generator) ? [UInt8](repeating: 0, count: length) : generator.bytes(length)
                let datagram = Headers.tcp(payload, sequence: UInt32(1 + sent.count))
                sent += payload
                let size = 8 * Int.random(in: 1...6, using: &generator)
                let frames = Self.fragments(datagram, of: size, isIPv6: isIPv6).map(\.frame)
                let isAsWhole = Bool.random(using: &generator)
                let captured =
                    isAsWhole
                    ? frames + frames
                    : frames.flatMap { Array(repeating: $0, count: .random(in: 1...3, using: &generator)) }
                for frame in captured { file.add(frame, at: 1_000_000 * number) }
            }
            let (log, counters) = events(of: file.bytes)
            #expect(log.bytes(of: 1, from: .fromClient) == sent, "seed \(seed), round \(round)")
            #expect(Self.missing(log) == 0 && counters.skipped.isEmpty, "seed \(seed), round \(round)")
            #expect(counters.segments == count, "seed \(seed), round \(round)")
        }
    }

    /// What differs from a datagram that was completed, or comes too long after it, is of another one.
    @Test func whatIsNoCopyBeginsAnotherDatagram() {
        for (changed, time) in [(true, 0), (false, 61_000_000)] {
            var file = PcapFile()
            for piece in [0..<40, 40..<120] { file.add(NetworkTests.fragment(piece)) }
            file.add(NetworkTests.fragment(40..<120, changed: changed), at: time)
            let (log, counters) = events(of: file.bytes)
            #expect(log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
            #expect(counters.skipped == [.fragment: 1])
        }
    }

    /// An identification is used again while the rest of a datagram is missing (RFC 4963): only the later datagram is whole.
    @Test(arguments: [false, true]) func whatIsLeftOfAnotherDatagramIsReplaced(isIPv6: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<100 {
            let count = Int.random(in: 40...300, using: &generator)
            let size = 8 * Int.random(in: 4...6, using: &generator)
            func segment(_ payload: [UInt8]) -> [UInt8] {
                let (packet, start) = ChecksumTests.packet(payload, isIPv6: isIPv6)
                return Array(packet[start...])
            }
            func frames(_ segment: [UInt8]) -> [[UInt8]] {
                Self.fragments(segment, of: size, isIPv6: isIPv6).map(\.frame)
            }
            let sent = generator.bytes(count)
            let (before, after) = (segment(generator.bytes(count)), segment(sent))
            let kept = Int.random(in: 1..<frames(before).count, using: &generator)
            let (old, new) = (before.prefix(kept * size), after.prefix(kept * size))
            // One mixture of both in 65,535 has the right checksum: nothing shows that it is one.
            if ChecksumTests.checksum(Array(old)) == ChecksumTests.checksum(Array(new)) { continue }
            var file = PcapFile()
            for frame in frames(before).prefix(kept) + frames(after) { file.add(frame) }
            let (log, counters) = events(of: file.bytes)
            #expect(log.bytes(of: 1, from: .fromClient) == sent, "seed \(seed), round \(round)")
            #expect(counters.segments == 1, "seed \(seed), round \(round)")
            #expect(counters.skipped == [.conflictingFragment: kept], "seed \(seed), round \(round)")
        }
    }

    /// The snapshot length cuts fragments off, and not only the last one: a datagram has the bytes before the first cut, and its
    /// whole length.
    @Test(arguments: [false, true], [false, true]) func whatWasCutOffIsMissing(isIPv6: Bool, isTunnelled: Bool) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for round in 0..<200 {
            let payload = generator.bytes(.random(in: 60...300, using: &generator))
            let tcp = Headers.tcp(payload)
            let datagram = isTunnelled ? [0, 0, 8, 0] + Headers.ipv4(tcp) : tcp
            let headers = datagram.count - payload.count
            var captured = 0
            var isCut = false
            var packets: [(bytes: [UInt8], original: Int)] = []
            for (index, fragment) in Self.fragments(
                datagram, of: 64, protocol: isTunnelled ? 47 : 6, isIPv6: isIPv6
            ).enumerated() {
                let length = fragment.frame.count - fragment.headerLength
                // The segment's header is there, and a byte of what follows.
                let least = index == 0 ? headers + 1 : 0
                let kept =
                    Bool.random(using: &generator) ? length : Int.random(in: least...length, using: &generator)
                if !isCut { captured += kept }
                isCut = isCut || kept < length
                packets.append((Array(fragment.frame.prefix(fragment.headerLength + kept)), fragment.frame.count))
            }
            var file = PcapFile()
            for packet in packets.shuffled(using: &generator) { file.add(packet.bytes, original: packet.original) }
            let rest = Headers.tcp([1, 2, 3], sequence: UInt32(1 + payload.count))
            file.add(
                isIPv6 && !isTunnelled
                    ? Headers.ethernet(Headers.ipv6(rest), type: 0x86dd) : Headers.ethernet(Headers.ipv4(rest)))
            let (log, counters) = events(of: file.bytes)
            let present = captured - headers
            #expect(
                log.bytes(of: 1, from: .fromClient) == Array(payload.prefix(present)) + [1, 2, 3],
                "seed \(seed), round \(round)")
            #expect(Self.missing(log) == payload.count - present, "seed \(seed), round \(round)")
            #expect(counters.segments == 2 && counters.skipped.isEmpty, "seed \(seed), round \(round)")
        }
    }
}
