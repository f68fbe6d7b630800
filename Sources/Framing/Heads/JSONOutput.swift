import Streams

/// Writes JSON into bytes (RFC 8259), without intermediate `String`s.
package enum JSONOutput {
    /// A string with its quotes. Control characters, DEL and C1 controls are escaped, so that they never reach a terminal;
    /// everything else is written as it is.
    package static func string(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { escaped($0, into: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// A string with its quotes, from bytes of which none has to be escaped.
    @inline(__always)
    static func quoted(_ text: RawSpan, into bytes: inout [UInt8]) {
        bytes.append(upTo: text.byteCount + 2) { room in
            room.put("\"")
            room.put(text)
            room.put("\"")
        }
    }

    /// The inside of a string from bytes that are valid UTF-8.
    package static func escaped(_ utf8: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        let raw = UnsafeRawBufferPointer(utf8)
        var plain = 0
        var at = 0
        while at < utf8.count {
            if at &+ 8 <= raw.count, !mayNeedEscapes(raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) {
                at &+= 8
                continue
            }
            let byte = utf8[at]
            let isC1 = byte == 0xc2 && at + 1 < utf8.count && utf8[at + 1] < 0xa0
            guard byte < 0x20 || byte == 0x22 || byte == 0x5c || byte == 0x7f || isC1 else {
                at += 1
                continue
            }
            bytes.append(contentsOf: utf8[plain..<at])
            let scalar = isC1 ? utf8[at + 1] : byte
            at += isC1 ? 2 : 1
            plain = at
            escape(scalar, into: &bytes)
        }
        bytes.append(contentsOf: utf8[plain..<at])
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

    private static func escape(_ scalar: UInt8, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\\"))
        switch scalar {
        case 0x22, 0x5c: bytes.append(scalar)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        default:
            bytes += [UInt8(ascii: "u"), UInt8(ascii: "0"), UInt8(ascii: "0")]
            bytes += [hexDigit(scalar >> 4), hexDigit(scalar & 15)]
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

    /// Text, and a number in decimal behind it.
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
    package static let longestNumber = 8 + 20

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
        let inFours = raw.byteCount & ~3
        bytes.append(words: inFours / 4) { word in
            hexDigits(raw.unsafeLoadUnaligned(fromUncheckedByteOffset: word &* 4, as: UInt32.self))
        }
        var at = inFours
        while at < raw.byteCount {
            hex(raw[unchecked: at], into: &bytes)
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
}
