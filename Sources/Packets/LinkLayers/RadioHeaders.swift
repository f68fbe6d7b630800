import Streams

/// What capture drivers put before IEEE 802.11 frames.
enum RadioHeaders {
    /// Radiotap: version 0 (1), padding (1), length (2, little-endian). Source: <https://www.radiotap.org>.
    static func readRadiotap(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4, bytes[byte: 0] == 0 else { return .skipped(.malformed) }
        return .layer(.ieee80211, at: Int(bytes.u16(2).byteSwapped))
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
