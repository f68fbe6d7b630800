import Streams

/// GENEVE: version and option length (1), flags (1), protocol (2), network identifier (3), reserved (1), options.
///
/// Source: RFC 8926 section 3.4.
enum GENEVE {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8, bytes[byte: 0] >> 6 == 0 else { return .skipped(.udp) }
        return EtherType.inside(bytes.u16(2), at: 8 + Int(bytes[byte: 0] & 0x3f) * 4)
    }
}
