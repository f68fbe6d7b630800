import Streams

/// Writes JSON into bytes (RFC 8259), without `String` on the way.
package enum JSONOutput {
    /// A string with its quotes. Control characters, DEL and C1 controls are escaped, so that a terminal never gets
    /// them; everything else is written as it is.
    package static func string(_ text: String, into bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { escaped($0, into: &bytes) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// The inside of a string from bytes that are valid UTF-8.
    package static func escaped(_ utf8: UnsafeBufferPointer<UInt8>, into bytes: inout [UInt8]) {
        var plain = 0
        var at = 0
        while at < utf8.count {
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
            bytes += [hexDigits[Int(scalar >> 4)], hexDigits[Int(scalar & 15)]]
        }
    }

    /// A field's value. Bytes are written as a hex string; a number that JSON cannot say, as null.
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

    /// A number in decimal: its digits are written where they belong, from the last to the first.
    package static func decimal(_ value: UInt64, into bytes: inout [UInt8]) {
        if value < 10 {
            bytes.append(UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value))
            return
        }
        var digits = InlineArray<20, UInt8>(repeating: 0)
        var rest = value
        var at = 20
        while rest > 0 {
            let (quotient, digit) = rest.quotientAndRemainder(dividingBy: 10)
            at &-= 1
            digits[at] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digit)
            rest = quotient
        }
        bytes.append(contentsOf: digits.span.bytes.extracting(at..<20))
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
        bytes.reserveCapacity(bytes.count + 2 * raw.byteCount)
        let digits = hexDigits.span
        for offset in 0..<raw.byteCount {
            let byte = raw[unchecked: offset]
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }

    /// Two lower-case hex digits.
    package static func hex(_ byte: UInt8, into bytes: inout [UInt8]) {
        bytes.append(hexDigits[Int(byte >> 4)])
        bytes.append(hexDigits[Int(byte & 15)])
    }

    private static let hexDigits = Array("0123456789abcdef".utf8)
}
