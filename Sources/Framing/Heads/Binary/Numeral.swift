import Streams

/// A number that is written in a way of its own: digits, or bytes that say how many there are.
package enum Numeral: Sendable, Hashable {
    /// Hexadecimal digits up to an end that belongs to the field.
    case hexadecimal(ends: [UInt8], most: Int)
    /// A fixed number of digits of a base, with leading zeros.
    case digits(count: Int, base: Int)
    /// A length in BER (X.690 section 8.1.3): below 128 itself, otherwise the number of bytes that follow, and those.
    case ber
    /// MySQL's length-encoded integer: below 251 itself, otherwise fc, fd or fe and 2, 3 or 8 bytes, the lowest first.
    case lengthEncoded
    /// Seven bits per byte, most significant group first, the high bit set on all but the last (MIDI, BER tags, ASN.1 OIDs).
    case groups(most: Int)

    /// How many bytes it takes at `start`; nil if more are needed to determine it.
    func size(of name: String, in bytes: RawSpan, at start: Int) throws(HeaderField.Fault) -> Int? {
        guard start < bytes.byteCount else { return fixedSize }
        let first = bytes[byte: start]
        switch self {
        case .digits(let count, let base):
            let known = min(count, bytes.byteCount - start)
            for at in start..<start + known where Self.digit(bytes[byte: at], base) == nil {
                throw HeaderField.Fault(message: "\(name) has no \(count) digits")
            }
            return count
        case .hexadecimal(let ends, let most):
            let known = bytes.extracting(0..<min(bytes.byteCount, start + most + ends.count))
            guard let end = known.firstRange(of: ends, from: start) else {
                guard bytes.byteCount - start < most + ends.count else {
                    throw HeaderField.Fault(message: "\(name) has no end within \(most) digits")
                }
                return nil
            }
            return end + ends.count - start
        case .ber:
            if first < 0x80 { return 1 }
            guard first > 0x80, first <= 0x88 else {
                throw HeaderField.Fault(message: "\(name) is a length of indefinite form, or of more than 8 bytes")
            }
            return 1 + Int(first & 0x7f)
        case .lengthEncoded:
            switch first {
            case 0..<251: return 1
            // The byte of a NULL in a row.
            case 251: return 1
            case 252: return 3
            case 253: return 4
            case 254: return 9
            default: throw HeaderField.Fault(message: "\(name) begins with 0xff, which begins no length")
            }
        case .groups(let most):
            var at = start
            while at < bytes.byteCount, at - start < most {
                if bytes[byte: at] < 0x80 { return at + 1 - start }
                at += 1
            }
            guard at - start < most else { throw HeaderField.Fault(message: "\(name) has no end within \(most) bytes") }
            return nil
        }
    }

    /// How many bytes it takes; nil if that depends on its value.
    var fixedSize: Int? { if case .digits(let count, _) = self { count } else { nil } }

    /// The value of a numeral of this size; text if it has digits that are none.
    func value(in bytes: RawSpan, at start: Int, size: Int) -> FieldValue {
        func number(_ range: Range<Int>, _ base: UInt64, _ digit: (UInt8) -> UInt8?) -> FieldValue? {
            var number: UInt64 = 0
            for at in range {
                guard let digit = digit(bytes[byte: at]) else { return nil }
                let (more, overflow) = number.multipliedReportingOverflow(by: base)
                let (sum, overflows) = more.addingReportingOverflow(UInt64(digit))
                if overflow || overflows { return nil }
                number = sum
            }
            return FieldValue(number)
        }
        switch self {
        case .digits(_, let base):
            return number(start..<start + size, UInt64(base)) { Self.digit($0, base) }
                ?? WordLine.text(bytes.extracting(start..<start + size))
        case .hexadecimal(let ends, _):
            let digits = start..<start + size - ends.count
            return (digits.isEmpty ? nil : number(digits, 16) { hexDigit($0) })
                ?? WordLine.text(bytes.extracting(digits))
        case .ber:
            if size == 1 { return .integer(Int64(bytes[byte: start])) }
            return FieldValue(bytes.unsigned(at: start + 1, width: size - 1, .big))
        case .lengthEncoded:
            if size == 1 { return bytes[byte: start] == 251 ? .integer(-1) : .integer(Int64(bytes[byte: start])) }
            return FieldValue(bytes.unsigned(at: start + 1, width: size - 1, .little))
        case .groups:
            var number: UInt64 = 0
            for at in start..<start + size { number = number << 7 | UInt64(bytes[byte: at] & 0x7f) }
            return FieldValue(number)
        }
    }

    /// A number written this way; nil if it does not fit.
    func encode(_ value: FieldValue) -> [UInt8]? {
        if case .text(let text) = value, case .hexadecimal(let ends, let most) = self, text.utf8.count <= most {
            return Array(text.utf8) + ends
        }
        if case .lengthEncoded = self, value == .integer(-1) { return [251] }
        guard let number = value.unsignedNumber else { return nil }
        switch self {
        case .digits(let count, let base):
            let digits = Array(String(number, radix: base).utf8)
            return digits.count <= count
                ? [UInt8](repeating: UInt8(ascii: "0"), count: count - digits.count) + digits : nil
        case .hexadecimal(let ends, let most):
            let digits = Array(String(number, radix: 16).utf8)
            return digits.count <= most ? digits + ends : nil
        case .ber:
            if number < 0x80 { return [UInt8(number)] }
            let width = (64 - number.leadingZeroBitCount + 7) / 8
            return [0x80 | UInt8(width)] + BinaryHead.bytes(number, width: width, .big)
        case .lengthEncoded:
            switch number {
            case 0..<251: return [UInt8(number)]
            case 251...0xffff: return [252] + BinaryHead.bytes(number, width: 2, .little)
            case 0x10000...0xffffff: return [253] + BinaryHead.bytes(number, width: 3, .little)
            default: return [254] + BinaryHead.bytes(number, width: 8, .little)
            }
        case .groups(let most):
            var groups = [UInt8(number & 0x7f)]
            var rest = number >> 7
            while rest > 0 {
                groups.append(UInt8(rest & 0x7f) | 0x80)
                rest >>= 7
            }
            return groups.count <= most ? groups.reversed() : nil
        }
    }

    private static func digit(_ byte: UInt8, _ base: Int) -> UInt8? {
        hexDigit(byte).flatMap { Int($0) < base ? $0 : nil }
    }
}
