import Streams

/// Generic routing encapsulation: flags (2), protocol (2), then the optional fields that the flags announce.
///
/// Source: RFC 2784, RFC 2890; version 1 (PPTP): RFC 2637 section 4.1.
enum GRE {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4 else { return .skipped(.malformed) }
        let flags = bytes.u16(0)
        let type = bytes.u16(2)
        let (hasChecksum, hasRouting) = (flags & 0x8000 != 0, flags & 0x4000 != 0)
        let (hasKey, hasSequence) = (flags & 0x2000 != 0, flags & 0x1000 != 0)
        var offset = 4
        if hasChecksum || hasRouting { offset += 4 }
        if hasKey { offset += 4 }
        if hasSequence { offset += 4 }
        if flags & 7 == 1 {  // with an acknowledgment number
            return .layer(.pppInHDLC, at: offset + (flags & 0x80 != 0 ? 4 : 0))
        }
        if hasRouting {
            // Source routes (RFC 1701): address family (2), offset (1), length (1), data; one of length 0 is the last.
            while bytes.byteCount >= offset + 4 {
                let length = Int(bytes[byte: offset + 3])
                offset += 4 + length
                if length == 0 { break }
            }
        }
        switch type {
        case 0x88be where !hasSequence: return .layer(.ethernet, at: offset)  // ERSPAN type I has no header of its own
        case 0x883e: return EtherType.inside(0x0800, at: offset + (isIPv4(bytes, offset) ? 0 : 4))  // WCCP redirection
        default: return EtherType.inside(type, at: offset)
        }
    }

    private static func isIPv4(_ bytes: RawSpan, _ offset: Int) -> Bool {
        offset < bytes.byteCount && bytes[byte: offset] >> 4 == 4
    }
}
