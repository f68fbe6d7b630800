import Streams

extension BinaryHead {
    /// The header with these values; constants and padding filled in, omitted numbers are 0.
    ///
    /// A named value may be given by its name. Lengths and checksums are filled in by the caller, who has the whole frame.
    package func encode(_ values: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        for field in fields {
            if let constant = field.constant {
                bytes += try Self.encode(constant, as: field)
            } else {
                bytes += try Self.encode(try value(of: field, in: values), as: field)
            }
        }
        return bytes
    }

    /// The value given for a field: its own, or that of its bits, or none.
    private func value(of field: HeaderField, in values: [Field]) throws(EncodingError) -> FieldValue {
        if let given = values.last(where: { $0.name == field.name })?.value { return given.unnamed(field.names) }
        var number: Int64 = 0
        for bits in field.bits {
            let given = values.last { $0.name == bits.name }?.value.unnamed(bits.names)
            guard let value = given ?? bits.constant.map(FieldValue.integer) else { continue }
            guard case .integer(let part) = value, part >= 0, bits.count >= 63 || part < 1 << Int64(bits.count) else {
                throw EncodingError.unfit(bits.name, value, "it has \(bits.count) bits")
            }
            number |= part << Int64(bits.lowest)
        }
        switch field.kind {
        case .string: return .text("")
        case .bytes(let size): return .bytes([UInt8](repeating: 0, count: size))
        // The highest bit is no sign.
        case .unsigned: return FieldValue(UInt64(bitPattern: number))
        default: return .integer(number)
        }
    }

    /// One value as the field's bytes.
    static func encode(_ value: FieldValue, as field: HeaderField) throws(EncodingError) -> [UInt8] {
        func unfit(_ wanted: String) -> EncodingError {
            guard case .text = value, !field.names.isEmpty else {
                return .unfit(field.name, value, "expected \(wanted)")
            }
            let names = field.names.values.sorted()
            let most = 32
            let list = names.prefix(most).joined(separator: ", ") + (names.count > most ? ", …" : "")
            return .unfit(field.name, value, "expected one of \(list), or \(wanted)")
        }
        func counted(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }
        switch field.kind {
        case .unsigned(let width):
            guard let number = value.unsignedNumber, width == 8 || number >> UInt64(8 * width) == 0 else {
                throw unfit("a number that fits \(counted(width))")
            }
            return bytes(number, width: width, field.order)
        case .signed(let width):
            guard case .integer(let number) = value, width == 8 || number >> Int64(8 * width - 1) == number >> 63 else {
                throw unfit("a number that fits \(counted(width)) with sign")
            }
            return bytes(UInt64(bitPattern: number), width: width, field.order)
        case .float(let width):
            guard let number = value.double else { throw unfit("a number") }
            let bits = width == 4 ? UInt64(Float(number).bitPattern) : number.bitPattern
            return bytes(bits, width: width, field.order)
        case .varint(let most):
            guard var rest = value.unsignedNumber else { throw unfit("a number of 0 or more") }
            var bytes: [UInt8] = []
            repeat {
                bytes.append(UInt8(rest & 0x7f) | (rest > 0x7f ? 0x80 : 0))
                rest >>= 7
            } while rest > 0
            guard bytes.count <= most else { throw unfit("a number that fits \(counted(most)) of seven bits") }
            return bytes
        case .decimal(let ends, let most):
            guard case .integer(let number) = value, String(number).utf8.count <= most else {
                throw unfit("a number of at most \(most) digits")
            }
            return Array(String(number).utf8) + ends
        case .numeral(let numeral):
            guard let bytes = numeral.encode(value) else { throw unfit("a number that fits") }
            return bytes
        case .string(let size, let padding):
            let text: [UInt8]
            switch value {
            case .text(let value): text = Array(value.utf8)
            case .bytes(let value): text = value
            case .json:
                // Text that is not UTF-8.
                guard let bytes = JSONValue(value).hexBytes else { throw unfit("text") }
                text = bytes
            default: throw unfit("text")
            }
            guard text.count <= size else { throw unfit("at most \(counted(size))") }
            return text + [UInt8](repeating: padding, count: size - text.count)
        case .bytes(let size):
            guard let raw = value.rawBytes, raw.count == size else { throw unfit("\(counted(size)), as hex") }
            return raw
        }
    }

    static func bytes(_ number: UInt64, width: Int, _ order: ByteOrder) -> [UInt8] {
        let little = (0..<width).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * $0)) }
        return order == .little ? little : little.reversed()
    }
}

extension FieldValue {
    /// The value that a name represents, or the value itself.
    func unnamed(_ names: [FieldValue: String]) -> FieldValue {
        guard case .text(let text) = self else { return self }
        return names.first { $0.value == text }?.key ?? self
    }

    /// The bits of a whole number: of one beyond `Int64`, as those of a negative one.
    var bitPattern: Int64? {
        switch self {
        case .integer(let number): number
        case .unsigned(let number): Int64(bitPattern: number)
        default: nil
        }
    }

    /// The value as an unsigned number.
    var unsignedNumber: UInt64? {
        switch self {
        case .integer(let number): UInt64(exactly: number)
        case .unsigned(let number): number
        default: nil
        }
    }

    /// The value as bytes; text is read as hex.
    package var rawBytes: [UInt8]? {
        switch self {
        case .bytes(let bytes): return bytes
        case .text(let text):
            let digits = Array(text.utf8).map(hexDigit)
            guard digits.count % 2 == 0 else { return nil }
            var bytes: [UInt8] = []
            for index in stride(from: 0, to: digits.count, by: 2) {
                guard let high = digits[index], let low = digits[index + 1] else { return nil }
                bytes.append(high << 4 | low)
            }
            return bytes
        default: return nil
        }
    }
}
