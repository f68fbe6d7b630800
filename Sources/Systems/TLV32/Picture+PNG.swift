import Framing

extension Picture {
    /// A valid PNG of grey noise (W3C PNG, third edition), not compressed (RFC 1950, RFC 1951 §3.2.4).
    ///
    /// - Parameter side: its width and height, 1 to 255: a picture takes a little more than its square in bytes.
    package static func png(side: Int) -> [UInt8] {
        let side = min(max(side, 1), 255)
        var filler = UInt32(side)
        var lines: [UInt8] = []
        for _ in 0..<side {
            lines.append(0)  // filter: none
            for _ in 0..<side {
                filler = filler &* 1_664_525 &+ 1_013_904_223
                lines.append(UInt8(filler >> 24))
            }
        }
        let length = UInt16(lines.count)
        let stored = [1] + bytes(UInt32(length), 2).reversed() + bytes(UInt32(~length), 2).reversed() + lines
        let header = bytes(UInt32(side), 4) + bytes(UInt32(side), 4) + [8, 0, 0, 0, 0]
        return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
            + chunk("IHDR", header)
            + chunk("IDAT", [0x78, 0x01] + stored + bytes(adler32(lines), 4))
            + chunk("IEND", [])
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let covered = Array(type.utf8) + data
        let sum = Checksum.named("CRC-32/ISO-HDLC")?.value(of: covered.span.bytes) ?? 0
        return bytes(UInt32(data.count), 4) + covered + bytes(UInt32(sum), 4)
    }

    /// RFC 1950 §9.
    private static func adler32(_ data: [UInt8]) -> UInt32 {
        var (a, b): (UInt32, UInt32) = (1, 0)
        for byte in data {
            a = (a + UInt32(byte)) % 65_521
            b = (b + a) % 65_521
        }
        return b << 16 | a
    }

    private static func bytes(_ number: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt32($0))) }
    }
}
