import Streams

/// GTP-U: flags (1), message type (1), length (2), tunnel (4), and with any of three flags: sequence (2), N-PDU (1), next extension (1).
///
/// Source: 3GPP TS 29.281 sections 5.1 and 5.2.
enum GTPU {
    static func read(_ bytes: RawSpan) -> Inside {
        // Version 1, protocol type GTP, message G-PDU.
        guard bytes.byteCount >= 9, bytes[byte: 0] & 0xf0 == 0x30, bytes[byte: 1] == 255 else {
            return .skipped(.udp)
        }
        var offset = 8
        if bytes[byte: 0] & 0x07 != 0 {
            guard bytes.byteCount >= 12 else { return .skipped(.malformed) }
            var next = bytes[byte: 0] & 0x04 != 0 ? bytes[byte: 11] : 0
            offset = 12
            while next != 0 {  // extension header: length in units of 4 bytes, content, type of the next
                guard offset < bytes.byteCount, bytes[byte: offset] > 0 else { return .skipped(.malformed) }
                let end = offset + Int(bytes[byte: offset]) * 4
                guard end <= bytes.byteCount else { return .skipped(.malformed) }
                next = bytes[byte: end - 1]
                offset = end
            }
        }
        return .layer(.rawIP, at: offset)
    }
}
