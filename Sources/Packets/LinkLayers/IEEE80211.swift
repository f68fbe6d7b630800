import Streams

/// IEEE 802.11 data frames that are not encrypted.
///
///      0       2       4         10        16        22      24       (30)    (32)    (36)
///     +-------+-------+---------+---------+---------+-------+---------+-------+-------+----
///     |control|duratn.|address 1|address 2|address 3| seq.  |address 4| QoS   | HT    | LLC
///     +-------+-------+---------+---------+---------+-------+---------+-------+-------+----
///
/// Source: IEEE 802.11-2020 section 9.3.2.1.
enum IEEE80211 {
    /// - Parameter isPadded: whether the header's length was rounded up to a multiple of 4 bytes.
    static func read(_ bytes: RawSpan, isPadded: Bool = false) -> Inside {
        guard bytes.byteCount >= 24 else { return .skipped(.radioManagement) }
        let (type, flags) = (bytes[byte: 0], bytes[byte: 1])
        // Type 2 is data; in its subtypes, bit 2 means there is none.
        guard type & 0x0c == 0x08, type & 0x40 == 0 else { return .skipped(.radioManagement) }
        guard flags & 0x40 == 0 else { return .skipped(.encrypted) }
        let hasMoreFragments = flags & 0x04 != 0
        let fragment = bytes[byte: 22] & 0x0f
        guard !hasMoreFragments, fragment == 0 else { return .skipped(.fragment) }
        var offset = 24
        var isAggregate = false
        if flags & 0x03 == 0x03 { offset += 6 }  // between access points (WDS): a fourth address
        if type & 0x80 != 0 {
            guard bytes.byteCount >= offset + 2 else { return .skipped(.malformed) }
            isAggregate = bytes[byte: offset] & 0x80 != 0
            offset += 2
            if flags & 0x80 != 0 { offset += 4 }  // HT control
        }
        if isPadded { offset = (offset + 3) & ~3 }
        return .layer(isAggregate ? .aggregateMSDU : .llc, at: offset)
    }
}
