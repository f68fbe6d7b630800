import Streams

/// The byte order of a number.
package enum ByteOrder: String, Sendable, Hashable, CaseIterable {
    /// Most significant byte first.
    case big
    /// Least significant byte first.
    case little
}

/// A field of a binary header, as described by a format file.
package struct HeaderField: Sendable, Hashable {
    /// How a field's value is encoded.
    package enum Kind: Sendable, Hashable {
        /// An unsigned number of 1 to 8 bytes.
        case unsigned(width: Int)
        /// A signed number (two's complement) of 1 to 8 bytes.
        case signed(width: Int)
        /// IEEE 754, 4 or 8 bytes.
        case float(width: Int)
        /// Seven bits per byte, least significant group first, the high bit set on all but the last (LEB128, Protobuf's varint,
        /// MQTT's remaining length).
        case varint(most: Int)
        /// Decimal digits, with an optional sign, up to a delimiter that belongs to the field.
        case decimal(ends: [UInt8], most: Int)
        /// A number written in a way of its own.
        case numeral(Numeral)
        /// Text of a fixed size, padded at its end.
        case string(size: Int, padding: UInt8)
        /// Bytes of a fixed size.
        case bytes(size: Int)

        /// Whether it is not written as text.
        var isBinary: Bool {
            switch self {
            case .unsigned, .signed, .float, .varint, .bytes, .numeral(.ber), .numeral(.lengthEncoded),
                .numeral(.groups):
                true
            case .decimal, .numeral(.hexadecimal), .numeral(.digits), .string: false
            }
        }
    }

    /// A field's bits by name, each with the lowest bit and the number of bits.
    package struct Bits: Sendable, Hashable {
        package var name: String
        package var lowest: Int
        package var count: Int
        /// The only value the bits may have.
        package var constant: Int64?
        /// The names of values.
        package var names: [FieldValue: String] = [:]

        /// The bits' value within that of their field.
        package func value(in number: Int64) -> Int64 {
            number >> Int64(lowest) & (count >= 63 ? Int64.max : Int64(1) << Int64(count) - 1)
        }
    }

    package var name: String
    package var kind: Kind
    package var order: ByteOrder
    /// The only value the field may have.
    package var constant: FieldValue?
    /// The values that it may have; empty: all.
    package var allowed: [AllowedValues] = []
    /// The constant as written in the format file, if in hex.
    package var constantText: String?
    /// The names of values.
    package var names: [FieldValue: String] = [:]
    /// The named bits.
    package var bits: [Bits] = []
    /// The checksum to verify and fill in.
    package var checksum: FieldChecksum?

    package init(name: String, kind: Kind, order: ByteOrder = .big) {
        self.name = name
        self.kind = kind
        self.order = order
    }

    /// Whether the values are text.
    var isText: Bool {
        if case .string = kind { true } else { false }
    }

    /// Whether some of the bits must have one particular value.
    var hasConstantBits: Bool { bits.contains { $0.constant != nil } }

    /// Whether the field may not have every value, although it is no constant.
    var isRestricted: Bool {
        if case .numeral = kind { return true }
        return hasRestriction
    }

    /// How many bytes the field takes; nil if that depends on its value.
    package var fixedSize: Int? {
        switch kind {
        case .unsigned(let width), .signed(let width), .float(let width): width
        case .string(let size, _), .bytes(let size): size
        case .numeral(let numeral): numeral.fixedSize
        case .varint, .decimal: nil
        }
    }

    /// The fault of a field with impossible bytes.
    package struct Fault: Error, Hashable {
        package var message: String
    }

    /// How many bytes the field takes at `start`; nil if more bytes are needed to determine it.
    func size(in bytes: RawSpan, at start: Int) throws(Fault) -> Int? {
        switch kind {
        case .varint(let most):
            var at = start
            while at < bytes.byteCount, at - start < most {
                if bytes[byte: at] < 0x80 { return at + 1 - start }
                at += 1
            }
            guard at - start < most else { throw Fault(message: "\(name) has no end within \(most) bytes") }
            return nil
        case .decimal(let ends, let most):
            let limit = min(bytes.byteCount, start + most + ends.count)
            if let end = bytes.extracting(0..<limit).firstRange(of: ends, from: start) {
                return end + ends.count - start
            }
            guard bytes.byteCount - start < most + ends.count else {
                throw Fault(message: "\(name) has no end within \(most) digits")
            }
            return nil
        case .numeral(let numeral): return try numeral.size(of: name, in: bytes, at: start)
        default: return fixedSize
        }
    }

    /// The field's value, given that all its bytes are available.
    func value(in bytes: RawSpan, at start: Int, size: Int) -> FieldValue {
        switch kind {
        case .unsigned(let width):
            let number = bytes.unsigned(at: start, width: width, order)
            return FieldValue(number)
        case .signed(let width):
            let shift = UInt64(64 - 8 * width)
            return .integer(Int64(bitPattern: bytes.unsigned(at: start, width: width, order) << shift) >> Int64(shift))
        case .float(let width):
            let number = bytes.unsigned(at: start, width: width, order)
            let value =
                width == 4 ? Double(Float(bitPattern: UInt32(truncatingIfNeeded: number))) : Double(bitPattern: number)
            return .number(value)
        case .varint:
            var number: UInt64 = 0
            for index in 0..<size where index < 10 {
                number |= UInt64(bytes[byte: start + index] & 0x7f) << UInt64(7 * index)
            }
            return FieldValue(number)
        case .decimal(let ends, _):
            let text = bytes.extracting(start..<start + size - ends.count).withUnsafeBytes {
                String(decoding: $0, as: UTF8.self)
            }
            return Int64(text).map(FieldValue.integer) ?? .text(text)
        case .numeral(let numeral): return numeral.value(in: bytes, at: start, size: size)
        case .string(let size, let padding):
            var end = start + size
            while end > start, bytes[byte: end - 1] == padding { end -= 1 }
            let text = bytes.extracting(start..<end)
            return text.firstInvalidUTF8() == nil
                ? .text(text.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) : .bytes(text.copied())
        case .bytes: return .bytes(bytes.copied(start..<start + size))
        }
    }
}

extension RawSpan {
    /// An unsigned number of 1 to 8 bytes.
    @inline(__always)
    func unsigned(at start: Int, width: Int, _ order: ByteOrder) -> UInt64 {
        precondition(start >= 0 && width >= 0 && start <= byteCount - width, "byte offset out of bounds")
        switch (width, order) {
        case (1, _): return UInt64(self[unchecked: start])
        case (2, .big): return UInt64(unsafeLoadUnaligned(fromByteOffset: start, as: UInt16.self).bigEndian)
        case (2, .little): return UInt64(unsafeLoadUnaligned(fromByteOffset: start, as: UInt16.self).littleEndian)
        case (4, .big): return UInt64(unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self).bigEndian)
        case (4, .little): return UInt64(unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self).littleEndian)
        default: break
        }
        var number: UInt64 = 0
        switch order {
        case .big: for index in 0..<width { number = number << 8 | UInt64(self[byte: start + index]) }
        case .little: for index in (0..<width).reversed() { number = number << 8 | UInt64(self[byte: start + index]) }
        }
        return number
    }
}

/// A checksum that a field holds, and what it covers.
package struct FieldChecksum: Sendable, Hashable {
    /// Where the bytes it covers begin or end.
    package enum Place: Sendable, Hashable {
        /// The first byte of the header.
        case start
        /// The first byte of the body.
        case body
        /// The first byte after the body.
        case bodyEnd
        /// The field itself.
        case field
        /// The first byte of another field.
        case named(String)
    }

    package var algorithm: Checksum
    package var from: Place
    package var to: Place
    /// Which key it uses; nil: that of the format's name.
    package var keyName: String?
}
