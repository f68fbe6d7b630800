import Streams

/// Why bytes are not a Protobuf message.
struct ProtobufError: Error, CustomStringConvertible {
    /// Human-readable: what was found, and where.
    var description: String
}

/// One field on the wire (https://protobuf.dev/programming-guides/encoding/).
struct ProtobufField {
    /// Its value, by wire type. Ranges refer to the body.
    enum Value {
        case varint(UInt64)
        case fixed64(UInt64)
        case bytes(Range<Int>)
        case group(Range<Int>)
        case fixed32(UInt32)
    }

    /// From 1 to 2²⁹ − 1.
    var number: UInt32
    var value: Value
}

/// Reads a message field by field. Fields are counted over all messages and guesses of a body, so that no body takes more time or
/// memory than its length warrants.
struct ProtobufReader {
    /// How deeply messages and groups may nest.
    static let nestingLimit = 64
    /// At most how many fields of a body are read.
    static let fieldLimit = 262_144

    private var read = 0

    /// The fields of the message that fills `range`, in order.
    mutating func fields(of bytes: RawSpan, in range: Range<Int>) throws(ProtobufError) -> [ProtobufField] {
        var fields: [ProtobufField] = []
        fields.reserveCapacity(min(range.count / 2, 8))
        var at = range.lowerBound
        while at < range.upperBound {
            let (number, type) = try tag(bytes, &at, range.upperBound)
            fields.append(ProtobufField(number: number, value: try value(number, type, bytes, &at, range.upperBound)))
        }
        return fields
    }

    private mutating func tag(
        _ bytes: RawSpan, _ at: inout Int, _ end: Int
    ) throws(ProtobufError) -> (number: UInt32, type: UInt8) {
        read += 1
        guard read <= Self.fieldLimit else { throw ProtobufError(description: "more than \(Self.fieldLimit) fields") }
        let start = at
        let tag = try Self.varint(bytes, &at, end)
        guard let number = UInt32(exactly: tag >> 3), number > 0, number < 1 << 29 else {
            throw ProtobufError(description: "field number \(tag >> 3) at byte \(start)")
        }
        return (number, UInt8(tag & 7))
    }

    private mutating func value(
        _ number: UInt32, _ type: UInt8, _ bytes: RawSpan, _ at: inout Int, _ end: Int
    ) throws(ProtobufError) -> ProtobufField.Value {
        switch type {
        case 0: return .varint(try Self.varint(bytes, &at, end))
        case 1: return .fixed64(try Self.fixed(8, bytes, &at, end))
        case 2:
            let start = at
            let length = try Self.varint(bytes, &at, end)
            guard length <= UInt64(end - at) else {
                throw ProtobufError(
                    description: "length \(length) of field \(number) at byte \(start), and \(end - at) bytes follow")
            }
            defer { at += Int(length) }
            return .bytes(at..<at + Int(length))
        case 3: return .group(try group(number, bytes, &at, end))
        case 5: return .fixed32(UInt32(truncatingIfNeeded: try Self.fixed(4, bytes, &at, end)))
        case 4: throw ProtobufError(description: "the end of a group that did not start, at byte \(at - 1)")
        default: throw ProtobufError(description: "wire type \(type) of field \(number) before byte \(at)")
        }
    }

    /// Skips a group and the tag that ends it; open groups are kept in an array, not on the stack.
    private mutating func group(
        _ number: UInt32, _ bytes: RawSpan, _ at: inout Int, _ end: Int
    ) throws(ProtobufError) -> Range<Int> {
        let start = at
        var open = [number]
        while true {
            let last = at
            let (number, type) = try tag(bytes, &at, end)
            switch type {
            case 3:
                guard open.count < Self.nestingLimit else {
                    throw ProtobufError(
                        description: "more than \(Self.nestingLimit) groups in one another at byte \(last)")
                }
                open.append(number)
            case 4:
                guard open.popLast() == number else {
                    throw ProtobufError(description: "the end of group \(number) at byte \(last), inside another")
                }
                if open.isEmpty { return start..<last }
            default: _ = try value(number, type, bytes, &at, end)
            }
        }
    }

    /// A varint: seven bits per byte, least significant group first.
    static func varint(_ bytes: RawSpan, _ at: inout Int, _ end: Int) throws(ProtobufError) -> UInt64 {
        let start = at
        var value: UInt64 = 0
        for shift in stride(from: 0 as UInt64, to: 70, by: 7) {
            guard at < end else {
                throw ProtobufError(description: "the message ends inside the varint at byte \(start)")
            }
            let byte = bytes[byte: at]
            at += 1
            if shift == 63, byte > 1 {
                let what = byte & 0x80 == 0 ? "does not fit 64 bits" : "is longer than ten bytes"
                throw ProtobufError(description: "the varint at byte \(start) \(what)")
            }
            value |= UInt64(byte & 0x7f) << shift
            if byte & 0x80 == 0 { return value }
        }
        throw ProtobufError(description: "the varint at byte \(start) is longer than ten bytes")
    }

    /// A number of a fixed size, little-endian.
    static func fixed(_ size: Int, _ bytes: RawSpan, _ at: inout Int, _ end: Int) throws(ProtobufError) -> UInt64 {
        guard end - at >= size else {
            throw ProtobufError(description: "the message ends inside the \(size) bytes at byte \(at)")
        }
        defer { at += size }
        return (0..<size).reduce(0) { $0 | UInt64(bytes[byte: at + $1]) << UInt64(8 * $1) }
    }
}
