import Packets
import Streams
import Testing

/// `ReassemblyOptions.verifiesChecksums`.
@Suite struct ChecksumTests {
    /// The sum of RFC 1071 over bytes, implemented independently, word by word.
    static func checksum(_ bytes: [UInt8]) -> Int {
        let padded = bytes.count % 2 == 0 ? bytes : bytes + [0]
        var sum = stride(from: 0, to: padded.count, by: 2).reduce(0) { $0 + Int(padded[$1]) << 8 + Int(padded[$1 + 1]) }
        while sum > 0xffff { sum = sum & 0xffff + sum >> 16 }
        return ~sum & 0xffff
    }

    /// A packet with correct checksums, and the offset of its TCP header.
    static func packet(
        _ payload: [UInt8], isIPv6: Bool, sequence: UInt32 = 1, flags: TCPFlags = .ack
    ) -> (bytes: [UInt8], tcp: Int) {
        var tcp = Headers.tcp(payload, sequence: sequence, flags: flags)
        var ip = isIPv6 ? Headers.ipv6(tcp) : Headers.ipv4(tcp)
        let start = ip.count - tcp.count
        let pseudo = (isIPv6 ? Array(ip[8..<40]) : Array(ip[12..<20])) + big(6, 4) + big(tcp.count, 4)
        tcp.replaceSubrange(16..<18, with: big(checksum(pseudo + tcp), 2))
        ip.replaceSubrange(start..., with: tcp)
        if !isIPv6 { ip.replaceSubrange(10..<12, with: big(checksum(Array(ip[..<20])), 2)) }
        return (Headers.ethernet(ip, type: isIPv6 ? 0x86dd : 0x0800), 14 + start)
    }

    static func skipped(_ packet: [UInt8], original: Int? = nil, isChecked: Bool = true) -> [Skipped: Int] {
        var file = PcapFile()
        file.add(packet, original: original)
        var options = ReassemblyOptions()
        options.verifiesChecksums = isChecked
        return events(of: file.bytes, options: options).counters.skipped
    }

    /// Every flipped bit of headers and payload is detected, odd lengths included.
    @Test(arguments: [false, true], [0, 1, 2, 7])
    func anyFlippedBitIsFound(isIPv6: Bool, count: Int) {
        let (right, tcp) = Self.packet((0..<count).map { UInt8($0 + 245) }, isIPv6: isIPv6)
        #expect(Self.skipped(right) == [:])
        // Not the data offset, which makes it malformed; of IP, the checksum itself and the bytes after it.
        let covered = (isIPv6 ? tcp..<tcp : 24..<34)
        for index in Array(covered) + Array(tcp..<right.count) where index != tcp + 12 {
            for bit in [0, 7] {
                var wrong = right
                wrong[index] ^= 1 << UInt8(bit)
                #expect(Self.skipped(wrong) == [.badChecksum: 1], "byte \(index)")
                #expect(Self.skipped(wrong, isChecked: false) == [:], "byte \(index)")
            }
        }
    }

    @Test func whatWasCutOffIsTaken() {
        let (right, _) = Self.packet([1, 2, 3, 4], isIPv6: false)
        #expect(Self.skipped(Array(right.dropLast(2)), original: right.count) == [:])
    }

    /// Also in a long connection, whose packets are usually taken without a closer look.
    @Test func aLongConnectionIsChecked() {
        var file = PcapFile()
        file.add(Self.packet([], isIPv6: false, sequence: 0, flags: .syn).bytes)
        for number in 1...100 {
            var (bytes, tcp) = Self.packet([7], isIPv6: false, sequence: UInt32(number))
            if number == 100 { bytes[tcp + 16] ^= 1 }
            file.add(bytes)
        }
        var options = ReassemblyOptions()
        #expect(events(of: file.bytes, options: options).counters.skipped == [:])
        options.verifiesChecksums = true
        #expect(events(of: file.bytes, options: options).counters.skipped == [.badChecksum: 1])
    }
}
