import Streams

/// IPv6 in UDP, after an authentication (0x0001) and an origin indication (0x0000). Source: RFC 4380 section 5.1.1.
enum Teredo {
    static func read(_ bytes: RawSpan) -> Inside {
        var offset = 0
        if bytes.byteCount >= 4, bytes.u16(0) == 1 {
            // Client identifier and authentication value, each as long as its length byte; nonce (8), confirmation (1).
            offset = 4 + Int(bytes[byte: 2]) + Int(bytes[byte: 3]) + 9
        }
        if bytes.byteCount >= offset + 2, bytes.u16(offset) == 0 { offset += 8 }
        guard bytes.byteCount > offset, bytes[byte: offset] >> 4 == 6 else { return .skipped(.udp) }
        return .layer(.ipv6, at: offset)
    }
}
