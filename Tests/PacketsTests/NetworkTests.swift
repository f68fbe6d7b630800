import Packets
import Streams
import Testing

@Suite struct NetworkTests {
    static let payload = (0..<100).map { UInt8($0) }
    static let datagram = Headers.tcp(payload)

    /// A fragment of the datagram.
    static func fragment(_ range: Range<Int>, identification: Int = 7, changed: Bool = false) -> [UInt8] {
        let hasMore = range.upperBound < datagram.count
        let bytes = datagram[range].map { changed ? $0 ^ 0xff : $0 }
        return Headers.ethernet(
            Headers.ipv4(
                bytes, identification: identification, fragment: range.lowerBound / 8 | (hasMore ? 0x2000 : 0)))
    }

    static func bytes(_ packets: [[UInt8]]) -> [UInt8] {
        var file = PcapFile()
        for packet in packets { file.add(packet) }
        return events(of: file.bytes).log.bytes(of: 1, from: .fromClient)
    }

    @Test func fragmentsInAnyOrder() {
        let pieces = [0..<40, 40..<80, 80..<120].map { NetworkTests.fragment($0) }
        for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0], [2, 2, 0, 0, 1]] {
            #expect(NetworkTests.bytes(order.map { pieces[$0] }) == NetworkTests.payload)
        }
        #expect(NetworkTests.bytes([pieces[0], pieces[2]]) == [])
    }

    @Test func firstCopyOfFragmentsCounts() {
        var file = PcapFile()
        for packet in [
            NetworkTests.fragment(40..<80), NetworkTests.fragment(24..<104, changed: true),
            NetworkTests.fragment(0..<48), NetworkTests.fragment(0..<40, identification: 8),
            NetworkTests.fragment(96..<120),
        ] { file.add(packet) }
        let (log, counters) = events(of: file.bytes)
        // Bytes 24 to 40 and 80 to 104 of the datagram first arrived changed.
        let expected = NetworkTests.payload.enumerated().map { index, byte in
            (4..<20).contains(index) || (60..<84).contains(index) ? byte ^ 0xff : byte
        }
        #expect(log.bytes(of: 1, from: .fromClient) == expected)
        // One of another datagram; three that contradict the second.
        #expect(counters.skipped == [.fragment: 1, .conflictingFragment: 3])
    }

    @Test func fragmentsInIPv6() {
        func fragment(_ range: Range<Int>) -> [UInt8] {
            let place = range.lowerBound | (range.upperBound < NetworkTests.datagram.count ? 1 : 0)
            return Headers.ipv6([6, 0] + big(place, 2) + big(99, 4) + NetworkTests.datagram[range], next: 44)
        }
        var file = PcapFile(linkType: 229)
        file.add(fragment(56..<120))
        file.add(fragment(0..<56))
        #expect(events(of: file.bytes).log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
    }

    /// Only the first fragment says what the datagram carries (RFC 8200 section 4.5).
    @Test(arguments: [false, true]) func protocolOfTheFirstFragmentCountsInIPv6(isFirstLast: Bool) {
        func fragment(_ range: Range<Int>, next: UInt8) -> [UInt8] {
            let place = range.lowerBound | (range.upperBound < NetworkTests.datagram.count ? 1 : 0)
            return Headers.ipv6([next, 0] + big(place, 2) + big(99, 4) + NetworkTests.datagram[range], next: 44)
        }
        let fragments = [fragment(0..<56, next: 6), fragment(56..<120, next: 17)]
        var file = PcapFile(linkType: 229)
        for bytes in isFirstLast ? fragments.reversed() : fragments { file.add(bytes) }
        let (log, counters) = events(of: file.bytes)
        #expect(log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
        #expect(counters.skipped.isEmpty)
    }

    /// TCP after an authentication header (RFC 4302) in IPv4, whole or in fragments, and such a header that is cut off.
    @Test func authenticationHeaderInIPv4() {
        let whole = [6, 4] + [UInt8](repeating: 0xee, count: 22) + NetworkTests.datagram
        var file = PcapFile(linkType: 228)
        file.add(Headers.ipv4(whole, protocol: 51))
        file.add(Headers.ipv4(Array(whole[..<20]), protocol: 51))
        let (log, counters) = events(of: file.bytes)
        #expect(log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
        #expect(counters.segments == 1 && counters.skipped == [.malformed: 1])
        var parts = PcapFile(linkType: 228)
        parts.add(Headers.ipv4(Array(whole[64...]), protocol: 51, identification: 7, fragment: 64 / 8))
        parts.add(Headers.ipv4(Array(whole[..<64]), protocol: 51, identification: 7, fragment: 0x2000))
        #expect(events(of: parts.bytes).log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
        // Where a connection is looked for, it is found.
        var finder = FlowFinder()
        let packet = PacketInfo(
            number: 1, time: Timestamp(nanoseconds: 0), linkType: .ipv4, capturedLength: whole.count + 20,
            originalLength: whole.count + 20)
        let found = finder.find(packet, Headers.ipv4(whole, protocol: 51).span.bytes)
        #expect(found.ends?.upper.port == 80 || found.ends?.lower.port == 80)
    }

    /// A fragment of the datagram after an extension header (destination options), in IPv6.
    static func extendedFragment(_ range: Range<Int>) -> [UInt8] {
        let whole: [UInt8] = [6, 0, 1, 4, 0, 0, 0, 0] + datagram
        let place = range.lowerBound | (range.upperBound < whole.count ? 1 : 0)
        return Headers.ipv6([60, 0] + big(place, 2) + big(99, 4) + whole[range], next: 44)
    }

    @Test func fragmentsOfExtensionHeadersInIPv6() {
        let pieces = [0..<8, 8..<56, 56..<128].map { NetworkTests.extendedFragment($0) }
        for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
            var file = PcapFile(linkType: 229)
            for index in order { file.add(pieces[index]) }
            let (log, counters) = events(of: file.bytes)
            #expect(log.bytes(of: 1, from: .fromClient) == NetworkTests.payload)
            #expect(counters.segments == 1 && counters.skipped.isEmpty)
        }
    }

    @Test func fragmentsAreForgotten() {
        var file = PcapFile()
        file.add(NetworkTests.fragment(0..<40))
        file.add(NetworkTests.fragment(40..<120), at: 61_000_000)
        #expect(events(of: file.bytes).log.events.isEmpty)
        // More incomplete datagrams than are kept.
        file = PcapFile()
        for index in 0..<3000 { file.add(NetworkTests.fragment(0..<40, identification: index)) }
        let (log, counters) = events(of: file.bytes)
        #expect(log.events.isEmpty)
        #expect(counters.abandonedDatagrams == 3000 - 1024)
        #expect(counters.skipped == [.fragment: 3000])
    }

    @Test func segmentationOffloadLeavesTheLengthZero() {
        let packet = Headers.ethernet(Headers.ipv4(NetworkTests.datagram, totalLength: 0))
        #expect(NetworkTests.bytes([packet]) == NetworkTests.payload)
    }

    @Test func optionsAreSkipped() {
        let tcp = Headers.tcp([1, 2, 3], options: [1, 1, 8, 10] + big(0, 8))
        #expect(NetworkTests.bytes([Headers.ethernet(Headers.ipv4(tcp, options: big(0, 8)))]) == [1, 2, 3])
    }

    /// Bytes that the snapshot length cut off are missing, unless nothing was seen after them.
    @Test(arguments: [false, true])
    func snappedPackets(isOffloaded: Bool) {
        var file = PcapFile()
        for index in 0..<3 {
            let tcp = Headers.tcp(NetworkTests.payload, sequence: UInt32(1 + index * 100))
            let packet = Headers.ethernet(Headers.ipv4(tcp, totalLength: isOffloaded ? 0 : nil))
            file.add(Array(packet[..<94]), original: packet.count)
        }
        let (log, _) = events(of: file.bytes)
        #expect(log.bytes(of: 1, from: .fromClient).count == 3 * 40)
        let missing = log.events.filter { if case .missing(_, _, 60, _) = $0 { true } else { false } }
        #expect(missing.count == 2)
    }
}
