import Streams

/// Why text does not represent bytes.
package struct TextualBytesError: Error, Hashable, CustomStringConvertible {
    /// Human-readable: what was found, and where.
    package var description: String
}

/// Bytes as pairs of hexadecimal digits.
package enum Base16 {
    /// The bytes; digits in either case, white space ignored.
    package static func decode(_ text: RawSpan) throws(TextualBytesError) -> [UInt8] {
        var bytes: [UInt8] = []
        var high: UInt8?
        for at in 0..<text.byteCount {
            let byte = text[byte: at]
            if isSpace(byte) { continue }
            guard let digit = hexDigit(byte) else {
                throw TextualBytesError(description: "expected a hexadecimal digit at byte \(at)")
            }
            if let first = high {
                bytes.append(first << 4 | digit)
                high = nil
            } else {
                high = digit
            }
        }
        if high != nil { throw TextualBytesError(description: "an odd number of hexadecimal digits") }
        return bytes
    }

    /// The bytes in lower-case digits.
    package static func encode(_ bytes: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(2 * bytes.count)
        for byte in bytes { JSONOutput.hex(byte, into: &text) }
        return text
    }
}

/// Bytes as Base64 (RFC 4648).
package enum Base64 {
    package static let standard = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    static let url: [UInt8] = standard.dropLast(2) + Array("-_".utf8)

    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 0xff, count: 256)
        for (value, byte) in standard.enumerated() { values[Int(byte)] = UInt8(value) }
        for (value, byte) in url.enumerated() { values[Int(byte)] = UInt8(value) }
        return values
    }()

    /// The bytes; either alphabet, padded or not, white space ignored.
    package static func decode(_ text: RawSpan) throws(TextualBytesError) -> [UInt8] {
        let values = self.values
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.byteCount / 4 * 3)
        var (group, count, padding): (UInt32, Int, Int) = (0, 0, 0)
        for at in 0..<text.byteCount {
            let byte = text[byte: at]
            if isSpace(byte) { continue }
            if byte == UInt8(ascii: "=") {
                padding += 1
                guard count >= 2, count + padding <= 4 else {
                    throw TextualBytesError(description: "no '=' expected at byte \(at)")
                }
                continue
            }
            let value = values[Int(byte)]
            guard value < 64, padding == 0 else {
                let expected = padding == 0 ? "a Base64 digit" : "the end"
                throw TextualBytesError(description: "expected \(expected) at byte \(at)")
            }
            group = group << 6 | UInt32(value)
            count += 1
            if count == 4 {
                bytes += [UInt8(truncatingIfNeeded: group >> 16), UInt8(truncatingIfNeeded: group >> 8)]
                bytes.append(UInt8(truncatingIfNeeded: group))
                (group, count) = (0, 0)
            }
        }
        guard count != 1, padding == 0 || count + padding == 4 else {
            throw TextualBytesError(description: "ends inside a group of four digits")
        }
        if count >= 2 { bytes.append(UInt8(truncatingIfNeeded: group >> (count == 2 ? 4 : 10))) }
        if count == 3 { bytes.append(UInt8(truncatingIfNeeded: group >> 2)) }
        return bytes
    }

    /// The bytes with padding.
    package static func encode(_ bytes: [UInt8], alphabet: [UInt8] = standard) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count + 2) / 3 * 4)
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let bits = group.reduce(0 as UInt32) { $0 << 8 | UInt32($1) } << UInt32(8 * (3 - group.count))
            for digit in 0..<4 {
                let isPadding = digit > group.count
                text.append(isPadding ? UInt8(ascii: "=") : alphabet[Int(bits >> UInt32(18 - 6 * digit) & 63)])
            }
        }
        return text
    }
}

private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d }
