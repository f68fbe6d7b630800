/// Bytes assembled by hand, in either byte order.
struct CaptureBytes {
    var bytes: [UInt8] = []
    var isBigEndian = false

    mutating func u8(_ value: Int) { bytes.append(UInt8(truncatingIfNeeded: value)) }
    mutating func u16(_ value: Int) { number(value, 2) }
    mutating func u32(_ value: Int) { number(value, 4) }
    mutating func u64(_ value: Int) { number(value, 8) }

    private mutating func number(_ value: Int, _ size: Int) {
        let littleEndian = (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        bytes += isBigEndian ? littleEndian.reversed() : littleEndian
    }
}

/// Network byte order.
func big(_ value: Int, _ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: value >> (8 * (size - 1 - $0))) }
}

/// A pcap file.
struct PcapFile {
    var magic = 0xa1b2_c3d4
    var isBigEndian = false
    var version = (2, 4)
    var linkType = 1
    var snapLength = 65_535
    var packets: [(seconds: Int, fraction: Int, bytes: [UInt8], original: Int?)] = []

    mutating func add(_ bytes: [UInt8], at microseconds: Int = 0, original: Int? = nil) {
        packets.append((microseconds / 1_000_000, microseconds % 1_000_000, bytes, original))
    }

    var bytes: [UInt8] {
        var file = CaptureBytes(isBigEndian: isBigEndian)
        file.u32(magic)
        file.u16(version.0)
        file.u16(version.1)
        file.u32(0)
        file.u32(0)
        file.u32(snapLength)
        file.u32(linkType)
        for packet in packets {
            file.u32(packet.seconds)
            file.u32(packet.fraction)
            let lengths = [packet.bytes.count, packet.original ?? packet.bytes.count]
            for length in version == (2, 2) ? lengths.reversed() : lengths { file.u32(length) }
            if magic == 0xa1b2_cd34 { file.u64(0x0102_0304) }
            file.bytes += packet.bytes
        }
        return file.bytes
    }
}

/// A pcapng file.
struct PcapngFile {
    var file = CaptureBytes()

    init(isBigEndian: Bool = false) {
        section(isBigEndian: isBigEndian)
    }

    mutating func section(isBigEndian: Bool) {
        file.isBigEndian = isBigEndian
        block(0x0a0d_0d0a) {
            $0.u32(0x1a2b_3c4d)
            $0.u16(1)
            $0.u16(0)
            $0.u64(-1)
        }
    }

    mutating func interface(linkType: Int = 1, snapLength: Int = 0, options: [(code: Int, value: [UInt8])] = []) {
        block(1) {
            $0.u16(linkType)
            $0.u16(0)
            $0.u32(snapLength)
            PcapngFile.add(options, to: &$0)
        }
    }

    mutating func packet(
        _ bytes: [UInt8], at units: Int = 0, interface: Int = 0, original: Int? = nil, comments: [String] = []
    ) {
        block(6) {
            $0.u32(interface)
            $0.u32(units >> 32)
            $0.u32(units)
            PcapngFile.add(bytes, original, to: &$0)
            PcapngFile.add(comments.map { (1, Array($0.utf8)) }, to: &$0)
        }
    }

    mutating func obsoletePacket(_ bytes: [UInt8], at units: Int, interface: Int = 0) {
        block(2) {
            $0.u16(interface)
            $0.u16(7)  // drops
            $0.u32(units >> 32)
            $0.u32(units)
            PcapngFile.add(bytes, nil, to: &$0)
        }
    }

    mutating func simplePacket(_ bytes: [UInt8], original: Int) {
        block(3) {
            $0.u32(original)
            $0.bytes += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
        }
    }

    mutating func statistics(end units: Int, interface: Int = 0) {
        block(5) {
            $0.u32(interface)
            $0.u64(0)
            var value = CaptureBytes(isBigEndian: $0.isBigEndian)
            value.u32(units >> 32)
            value.u32(units)
            PcapngFile.add([(3, value.bytes)], to: &$0)
        }
    }

    mutating func block(_ type: Int, _ fill: (inout CaptureBytes) -> Void) {
        var body = CaptureBytes(isBigEndian: file.isBigEndian)
        fill(&body)
        file.u32(type)
        file.u32(body.bytes.count + 12)
        file.bytes += body.bytes
        file.u32(body.bytes.count + 12)
    }

    private static func add(_ bytes: [UInt8], _ original: Int?, to body: inout CaptureBytes) {
        body.u32(bytes.count)
        body.u32(original ?? bytes.count)
        body.bytes += bytes + [UInt8](repeating: 0, count: -bytes.count & 3)
    }

    private static func add(_ options: [(code: Int, value: [UInt8])], to body: inout CaptureBytes) {
        guard !options.isEmpty else { return }
        for (code, value) in options {
            body.u16(code)
            body.u16(value.count)
            body.bytes += value + [UInt8](repeating: 0, count: -value.count & 3)
        }
        body.u32(0)
    }
}
