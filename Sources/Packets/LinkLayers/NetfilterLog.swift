import Streams

/// Linux netfilter log: family (1), version (1), resource (2), then attributes of length, type (in the host's order) and value.
///
/// Source: <https://www.tcpdump.org/linktypes/LINKTYPE_NFLOG.html>.
enum NetfilterLog {
    static func read(_ bytes: RawSpan) -> Inside {
        guard bytes.byteCount >= 4, bytes[byte: 1] == 0 else { return .skipped(.malformed) }
        var at = 4
        while bytes.byteCount - at >= 4 {
            // Types are below 256: if the type is in the second byte, the order is big-endian.
            let isBigEndian = bytes[byte: at + 2] == 0 && bytes[byte: at + 3] != 0
            let (first, second) = (bytes.u16(at), bytes.u16(at + 2))
            let length = Int(isBigEndian ? first : first.byteSwapped)
            let type = isBigEndian ? second : second.byteSwapped
            guard length >= 4 else { break }
            if type & 0x7fff == 9 { return .layer(.rawIP, at: at + 4, end: at + length) }  // NFULA_PAYLOAD
            at += (length + 3) & ~3
        }
        return .skipped(.notIP)
    }
}
