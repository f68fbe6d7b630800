import Streams

extension ProtobufReader {
    /// Whether bytes are a message, by number; nil if a full decode is needed to tell (very many fields).
    @inline(__always)
    static func isMessage(_ bytes: RawSpan) -> Bool? {
        // No field is shorter than two bytes.
        let end = bytes.byteCount
        guard end < 2 * 4_096 else { return nil }
        // Most fields are small numbers, and less than 128 bytes of text or of a message.
        var at = 0
        while at &+ 1 < end {
            let (tag, next) = (bytes[unchecked: at], bytes[unchecked: at &+ 1])
            guard tag > 7, next < 0x80 else { break }
            if tag & 0x87 == 2 {
                at &+= 2 &+ Int(next)
            } else if tag & 0x87 == 0 {
                at &+= 2
            } else {
                break
            }
        }
        return at >= end ? at == end : endOfFields(bytes, from: at, tag: 0, depth: 0) == end
    }

    /// Skips the fields of a message, or of a group and the tag that ends it.
    ///
    /// - Parameters:
    ///   - last: the tag that ends them; 0 if the end of the bytes does.
    ///   - depth: how many groups they are nested in.
    /// - Returns: where they end; -1 if they do not.
    private static func endOfFields(_ bytes: RawSpan, from start: Int, tag last: UInt64, depth: Int) -> Int {
        let end = bytes.byteCount
        var at = start
        while at < end {
            var tag = UInt64(bytes[unchecked: at])
            if tag < 0x80 {
                at &+= 1
            } else {
                guard let number = quickVarint(bytes, &at, end), number >> 3 < 1 << 29 else { return -1 }
                tag = number
            }
            guard tag > 7 else { return -1 }
            switch tag & 7 {
            case 0:
                if at < end, bytes[unchecked: at] < 0x80 {
                    at &+= 1
                } else if quickVarint(bytes, &at, end) == nil {
                    return -1
                }
            case 1: at &+= 8
            case 2:
                guard let length = quickVarint(bytes, &at, end), length <= UInt64(end &- at) else { return -1 }
                at &+= Int(truncatingIfNeeded: length)
            case 3:
                // Each open group takes at least one byte to end.
                guard depth < nestingLimit, depth < end &- at, tag > 0x7f || has(UInt8(tag &+ 1), bytes, after: at)
                else { return -1 }
                at = endOfFields(bytes, from: at, tag: tag &+ 1, depth: depth &+ 1)
                if at < 0 { return -1 }
            case 4: return tag == last ? at : -1
            case 5: at &+= 4
            default: return -1
            }
        }
        return at == end && last == 0 ? at : -1
    }

    /// Whether a byte is present, as the end of a group must be: avoids parsing bytes that look like a group's start by chance.
    private static func has(_ byte: UInt8, _ bytes: RawSpan, after start: Int) -> Bool {
        var at = start
        let wanted = UInt64(byte) &* 0x0101_0101_0101_0101
        while at &+ 8 <= bytes.byteCount {
            // An equal byte becomes zero, and only a zero borrows into its highest bit.
            let difference = bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self) ^ wanted
            if (difference &- 0x0101_0101_0101_0101) & ~difference & 0x8080_8080_8080_8080 != 0 { return true }
            at &+= 8
        }
        while at < bytes.byteCount {
            if bytes[unchecked: at] == byte { return true }
            at &+= 1
        }
        return false
    }

    /// The same as `varint`, without a reason for failure.
    @inline(__always)
    static func quickVarint(_ bytes: RawSpan, _ at: inout Int, _ end: Int) -> UInt64? {
        guard at < end else { return nil }
        let first = bytes[unchecked: at]
        at &+= 1
        if first < 0x80 { return UInt64(first) }
        return longVarint(UInt64(first & 0x7f), bytes, &at, end)
    }

    static func longVarint(_ first: UInt64, _ bytes: RawSpan, _ at: inout Int, _ end: Int) -> UInt64? {
        var value = first
        var shift: UInt64 = 7
        while at < end, shift < 70 {
            let byte = bytes[unchecked: at]
            at &+= 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
            shift &+= 7
        }
        return nil
    }
}
