/// Ethernet II and IEEE 802.3.
///
///      0           6           12      14
///     +-----------+-----------+-------+---- …
///     |destination|  source   |type or|
///     |           |           |length |
///     +-----------+-----------+-------+---- …
enum Ethernet {
    @inline(__always)
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 14 else { return .skipped(.malformed) }
        return typeOrLength(bytes.u16(12), at: 14)
    }

    /// Up to 1,500 it is a length, and LLC follows (IEEE 802.3 section 3.2.6).
    @inline(__always)
    static func typeOrLength(_ value: UInt16, at offset: Int) -> Inside {
        value <= 1500 ? .layer(.llc, at: offset, end: offset + Int(value)) : EtherType.inside(value, at: offset)
    }
}
