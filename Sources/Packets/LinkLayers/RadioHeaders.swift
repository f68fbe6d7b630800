import Streams

/// What capture drivers put before IEEE 802.11 frames.
enum RadioHeaders {
    /// Radiotap: version 0 (1), padding (1), length (2), which fields it has (4, or more of them), fields; little-endian.
    ///
    /// Source: <https://www.radiotap.org>.
    static func readRadiotap(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4, bytes[byte: 0] == 0 else { return .skipped(.malformed) }
        let length = Int(bytes.u16(2).byteSwapped)
        let isPadded = radiotapFlags(bytes, length) & 0x20 != 0
        return .layer(isPadded ? .paddedIEEE80211 : .ieee80211, at: length)
    }

    /// Radiotap's Flags field, the second one, after the time (8); 0 if there is none.
    private static func radiotapFlags(_ bytes: RawSpan, _ length: Int) -> UInt8 {
        let end = min(length, bytes.byteCount)
        guard end >= 8 else { return 0 }
        let present = bytes.u32(4).byteSwapped
        guard present & 2 != 0 else { return 0 }
        var at = 8
        var last = present
        // Bit 31: another word follows.
        while last >> 31 == 1 {
            guard at + 4 <= end else { return 0 }
            last = bytes.u32(at).byteSwapped
            at += 4
        }
        // Fields are aligned, from the start of the header.
        if present & 1 != 0 { at = ((at + 7) & ~7) + 8 }
        return at < end ? bytes[byte: at] : 0
    }

    /// Prism: message code (4), message length (4), in the host's order; or an AVS header under the same link type.
    static func readPrism(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8 else { return .skipped(.malformed) }
        if bytes.u32(0) & 0xffff_f000 == 0x8021_1000 { return readAVS(bytes) }
        let length = bytes.u32(4)
        return .layer(.ieee80211, at: Int(min(length, length.byteSwapped)))
    }

    /// AVS: version (4), length (4), in network order.
    static func readAVS(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8 else { return .skipped(.malformed) }
        return .layer(.ieee80211, at: Int(bytes.u32(4)))
    }

    /// PPI: version (1), flags (1), length (2), link type (4), little-endian.
    static func readPerPacketInformation(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 8 else { return .skipped(.malformed) }
        let linkType = LinkType(rawValue: UInt16(truncatingIfNeeded: bytes.u32(4).byteSwapped))
        guard let layer = Layer(linkType) else { return .skipped(.linkType) }
        return .layer(layer, at: max(8, Int(bytes.u16(2).byteSwapped)))
    }
}
