import Streams

/// Writes JSON into bytes (RFC 8259), without intermediate `String`s.
package enum JSONOutput {
    /// A string with its quotes. Control characters, DEL and C1 controls are escaped, so that they never reach a terminal;
    /// everything else is written as it is.
    package static func string(_ text: String, into bytes: inout [UInt8]) {
        var text = text
        text.withUTF8 { utf8 in
            if utf8.count <= longestPiece {
                return bytes.append(upTo: longestEscape * utf8.count + 2) { room in
                    room.put("\"")
                    escaped(utf8.span.bytes, into: &room)
                    room.put("\"")
                }
            }
            bytes.append(UInt8(ascii: "\""))
            escaped(utf8, into: &bytes)
            bytes.append(UInt8(ascii: "\""))
        }
    }

    /// The inside of a string from bytes that are valid UTF-8.
    package static func escaped(_ utf8: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        let text = utf8.span.bytes
        var start = 0
        // Piece by piece: there is room for all of a piece to be escaped.
        while start < text.byteCount {
            var end = min(text.byteCount, start + longestPiece)
            // A character is not split.
            for _ in 0..<3 where end < text.byteCount && text[byte: end] & 0xc0 == 0x80 { end -= 1 }
            bytes.append(upTo: longestEscape * (end - start)) { escaped(text.extracting(start..<end), into: &$0) }
            start = end
        }
    }

    /// How much of a text is written at once.
    private static let longestPiece = 4_096

    /// How many bytes a byte takes at most when it is escaped.
    static let longestEscape = 6

    /// The inside of a string, where there is room for `longestEscape` bytes for each byte of it.
    static func escaped(_ text: RawSpan, into room: inout ByteRoom) {
        var plain = 0
        var at = 0
        while at < text.byteCount {
            if text.byteCount &- at >= 16,
                isPlain(
                    text.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self),
                    text.unsafeLoadUnaligned(fromUncheckedByteOffset: at &+ 8, as: UInt64.self))
            {
                at &+= 16
                continue
            }
            if text.byteCount &- at >= 8,
                !mayNeedEscapes(text.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
            {
                at &+= 8
                continue
            }
            let byte = text[byte: at]
            let isC1 = byte == 0xc2 && at + 1 < text.byteCount && text[byte: at + 1] < 0xa0
            guard byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f || isC1 else {
                at += 1
                continue
            }
            room.put(text.extracting(plain..<at))
            escape(isC1 ? text[byte: at + 1] : byte, into: &room)
            at += isC1 ? 2 : 1
            plain = at
        }
        room.put(text.extracting(plain..<text.byteCount))
    }

    /// Whether 16 bytes are ASCII that need no escapes: false for other bytes, too, if need be.
    ///
    /// Of an ASCII byte `x`, `x - 0x20` has its top bit set if it is a control character, `(x ^ c) - 1` if it is `c`, and `x + 1` if it is
    /// 0x7f.
    @inline(__always)
    private static func isPlain(_ low: UInt64, _ high: UInt64) -> Bool {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        func marked(_ word: UInt64) -> UInt64 {
            word | (word &- ones &* 0x20) | ((word ^ ones &* 0x22) &- ones) | ((word ^ ones &* 0x5c) &- ones)
                | (word &+ ones)
        }
        return (marked(low) | marked(high)) & tops == 0
    }

    /// Whether one of eight bytes may have to be escaped: false only if none has.
    ///
    /// A byte of `x - 0x01…` has its top bit set, and that of `x` not, where the byte of `x` is 0: the usual test for zero bytes in a word.
    @inline(__always)
    private static func mayNeedEscapes(_ word: UInt64) -> Bool {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let controls = (word &- ones &* 0x20) & ~word
        let quotes = zeros(word ^ ones &* 0x22) | zeros(word ^ ones &* 0x5c)
        let others = zeros(word ^ ones &* 0x7f) | zeros(word ^ ones &* 0xc2)
        return (controls | quotes | others) & tops != 0
    }

    private static func escape(_ scalar: UInt8, into room: inout ByteRoom) {
        switch scalar {
        case 0x22: room.put("\\\"")
        case 0x5c: room.put("\\\\")
        case 0x08: room.put("\\b")
        case 0x0c: room.put("\\f")
        case 0x0a: room.put("\\n")
        case 0x0d: room.put("\\r")
        case 0x09: room.put("\\t")
        default:
            room.put("\\u00")
            hex(scalar, into: &room)
        }
    }

    /// A field's value. Bytes are written as a hex string; a number that JSON cannot represent, as null.
    package static func value(_ value: FieldValue, into bytes: inout [UInt8]) {
        switch value {
        case .null: bytes += Array("null".utf8)
        case .boolean(let value): bytes += Array((value ? "true" : "false").utf8)
        case .integer(let value): integer(value, into: &bytes)
        case .unsigned(let value): bytes += Array(String(value).utf8)
        case .number(let value): bytes += Array((value.isFinite ? String(value) : "null").utf8)
        case .text(let text): string(text, into: &bytes)
        case .json(let text): bytes += Array(text.utf8)
        case .bytes(let raw):
            bytes.append(UInt8(ascii: "\""))
            for byte in raw { hex(byte, into: &bytes) }
            bytes.append(UInt8(ascii: "\""))
        }
    }

    /// A whole number in decimal.
    package static func integer(_ value: Int64, into bytes: inout [UInt8]) {
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        decimal(value.magnitude, into: &bytes)
    }

    /// A number in decimal.
    package static func decimal(_ value: UInt64, into bytes: inout [UInt8]) {
        guard value < 100_000_000 else {
            decimal(value / 100_000_000, into: &bytes)
            return decimal(UInt32(value % 100_000_000), digits: 8, into: &bytes)
        }
        if value < 10 { return bytes.append(UInt8(0x30 + value)) }
        decimal(UInt32(truncatingIfNeeded: value), digits: 1, into: &bytes)
    }

    /// A number of at most eight digits, zero-padded to the given number of digits.
    package static func decimal(_ value: UInt32, digits: Int, into bytes: inout [UInt8]) {
        let (count, text) = Self.digits(of: value, least: digits)
        bytes.append(first: count, of: text)
    }

    /// Text, and a number in decimal after it.
    @inline(__always)
    package static func decimal(_ value: UInt64, after text: UnsafeRawBufferPointer, into bytes: inout [UInt8]) {
        guard value < 100_000_000 else {
            bytes.append(copying: text)
            return decimal(value, into: &bytes)
        }
        let (count, digits) = digits(of: UInt32(truncatingIfNeeded: value), least: 1)
        bytes.append(copying: text, first: count, of: digits)
    }

    /// How many bytes a number takes at most in a `ByteRoom`.
    @inlinable package static var longestNumber: Int { 8 + 20 }

    /// A whole number in decimal, where there is room for `longestNumber` bytes.
    @inline(__always)
    package static func integer(_ value: Int, into room: inout ByteRoom) {
        if value < 0 { room.put("-") }
        decimal(UInt64(value.magnitude), into: &room)
    }

    /// A number in decimal, where there is room for `longestNumber` bytes.
    @inline(__always)
    package static func decimal(_ value: UInt64, into room: inout ByteRoom) {
        if value < 10 { return room.put(first: 1, of: 0x30 | value) }
        if value < 100 {
            let tens = (value &* 103) >> 10
            return room.put(first: 2, of: 0x3030 | tens | (value &- tens &* 10) << 8)
        }
        guard value < 100_000_000 else { return longDecimal(value, into: &room) }
        let (count, text) = digits(of: UInt32(truncatingIfNeeded: value), least: 1)
        room.put(first: count, of: text)
    }

    @inline(never)
    private static func longDecimal(_ value: UInt64, into room: inout ByteRoom) {
        decimal(value / 100_000_000, into: &room)
        room.put(first: 8, of: digits(of: UInt32(truncatingIfNeeded: value % 100_000_000), least: 8).text)
    }

    /// The digits of a number below 100,000,000, at least `least` of them, the first in the lowest byte.
    @inline(__always)
    package static func digits(of value: UInt32, least: Int) -> (count: Int, text: UInt64) {
        let digits = eightDigits(value)
        let zeros = min(digits.trailingZeroBitCount / 8, 8 - least)
        return (8 - zeros, (digits | 0x3030_3030_3030_3030) >> UInt64(8 * zeros))
    }

    /// The values of the eight digits of a number below 100,000,000, the first in the lowest byte: halves are split into halves, all at once,
    /// with products and shifts in place of divisions.
    @inline(__always)
    private static func eightDigits(_ value: UInt32) -> UInt64 {
        let fours = UInt64(value / 10_000) | UInt64(value % 10_000) << 32
        let hundreds = ((fours &* 10_486) >> 20) & 0x0000_007f_0000_007f
        let twos = (fours &- hundreds &* 100) << 16 | hundreds
        let tens = ((twos &* 103) >> 10) & 0x000f_000f_000f_000f
        return (twos &- tens &* 10) << 8 | tens
    }

    /// An object of fields.
    package static func object(_ fields: [Field], into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "{"))
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            string(field.name, into: &bytes)
            bytes.append(UInt8(ascii: ":"))
            value(field.value, into: &bytes)
        }
        bytes.append(UInt8(ascii: "}"))
    }

    /// Bytes in lower-case hex digits.
    package static func hex(_ raw: RawSpan, into bytes: inout [UInt8]) {
        bytes.append(upTo: 2 * raw.byteCount) { hex(raw, into: &$0) }
    }

    /// Bytes in lower-case hex digits, where there is room for two for each byte.
    static func hex(_ raw: RawSpan, into room: inout ByteRoom) {
        var at = 0
        while raw.byteCount &- at >= 4 {
            room.put(
                first: 8, of: hexDigits(raw.unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt32.self)))
            at &+= 4
        }
        while at < raw.byteCount {
            hex(raw[unchecked: at], into: &room)
            at &+= 1
        }
    }

    /// The digits of four bytes at once, each nibble in a byte of its own.
    @inline(__always)
    private static func hexDigits(_ raw: UInt32) -> UInt64 {
        var halves = UInt64(raw.littleEndian)
        halves = (halves | halves << 16) & 0x0000_ffff_0000_ffff
        halves = (halves | halves << 8) & 0x00ff_00ff_00ff_00ff
        // The upper nibble comes first.
        halves = (halves >> 4 | halves << 8) & 0x0f0f_0f0f_0f0f_0f0f
        // 10 and above have bit 4 after adding 6, and are offset by another 39.
        let letters = (halves &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return halves &+ 0x3030_3030_3030_3030 &+ letters &* 39
    }

    /// `0` to `9`, `a` to `f`.
    @inline(__always)
    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") &+ value : UInt8(ascii: "a") &- 10 &+ value
    }

    /// Two lower-case hex digits.
    package static func hex(_ byte: UInt8, into bytes: inout [UInt8]) {
        bytes.append(hexDigit(byte >> 4))
        bytes.append(hexDigit(byte & 15))
    }

    private static func hex(_ byte: UInt8, into room: inout ByteRoom) {
        room.put(hexDigit(byte >> 4))
        room.put(hexDigit(byte & 15))
    }
}
