import Streams

/// Why bytes are no Protobuf message.
struct ProtobufError: Error, CustomStringConvertible {
    /// For people: what was found, and where.
    var description: String
}

/// One field as it lies on the wire (https://protobuf.dev/programming-guides/encoding/).
struct ProtobufField {
    /// Its value, by wire type. Ranges are of the body.
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

/// Reads a message field by field. What is read is counted, over all messages and guesses of a body, so that no body takes
/// more time or memory than its length warrants.
struct ProtobufReader {
    /// How deeply messages and groups may nest.
    static let nestingLimit = 64
    /// How many fields of a body are read.
    static let fieldLimit = 262_144

    private var read = 0

    /// The fields of the message that fills `range`, in order.
    mutating func fields(of bytes: RawSpan, in range: Range<Int>) throws(ProtobufError) -> [ProtobufField] {
        var fields: [ProtobufField] = []
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

    /// Steps over a group and the tag that ends it; what is open lies in an array, not on the stack.
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

    /// A number of seven bits a byte, the lowest first.
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

    /// A number of a fixed size, the lowest byte first.
    static func fixed(_ size: Int, _ bytes: RawSpan, _ at: inout Int, _ end: Int) throws(ProtobufError) -> UInt64 {
        guard end - at >= size else {
            throw ProtobufError(description: "the message ends inside the \(size) bytes at byte \(at)")
        }
        defer { at += size }
        return (0..<size).reduce(0) { $0 | UInt64(bytes[byte: at + $1]) << UInt64(8 * $1) }
    }
}

extension ProtobufReader {
    /// Whether bytes are a message, by number; nil where it takes a closer look (very many fields).
    static func isMessage(_ bytes: RawSpan) -> Bool? {
        let end = bytes.byteCount
        // No field is shorter than two bytes.
        guard end < 8_192 else { return nil }
        var at = 0
        var read = 0
        while at < end {
            let first = UInt64(bytes[unchecked: at])
            // Most tags have one byte, and the values of numbers and the lengths of bytes too.
            if first < 0x80, first > 7, at &+ 1 < end {
                let second = Int(bytes[unchecked: at &+ 1])
                if second < 0x80 {
                    if first & 7 == 0 {
                        at &+= 2
                        continue
                    } else if first & 7 == 2 {
                        guard second <= end &- at &- 2 else { return false }
                        at &+= 2 &+ second
                        continue
                    }
                }
            }
            guard let tag = quickVarint(bytes, &at, end), tag >> 3 > 0, tag >> 3 < 1 << 29 else { return false }
            if tag & 7 == 3 {
                guard isGroup(tag >> 3, bytes, &at, &read) else { return read < 4_096 ? false : nil }
            } else {
                guard isValue(tag & 7, bytes, &at) else { return false }
            }
        }
        return true
    }

    /// Steps over a value other than a group; false where it is none.
    @inline(__always)
    private static func isValue(_ type: UInt64, _ bytes: RawSpan, _ at: inout Int) -> Bool {
        let end = bytes.byteCount
        switch type {
        case 0: return quickVarint(bytes, &at, end) != nil
        case 1: at += 8
        case 2:
            guard let length = quickVarint(bytes, &at, end), length <= UInt64(end - at) else { return false }
            at += Int(length)
        case 5: at += 4
        default: return false
        }
        return at <= end
    }

    /// Steps over a group behind its first tag; false where it is none.
    private static func isGroup(_ number: UInt64, _ bytes: RawSpan, _ at: inout Int, _ read: inout Int) -> Bool {
        var open = InlineArray<64, UInt32>(repeating: 0)
        open[0] = UInt32(number)
        var depth = 1
        while at < bytes.byteCount {
            read += 1
            guard read < 4_096 else { return false }
            guard let tag = quickVarint(bytes, &at, bytes.byteCount), tag >> 3 > 0, tag >> 3 < 1 << 29 else {
                return false
            }
            switch tag & 7 {
            case 3:
                // Each that is open takes a byte at least to end.
                guard depth < nestingLimit, depth < bytes.byteCount - at else { return false }
                open[depth] = UInt32(tag >> 3)
                depth += 1
            case 4:
                depth -= 1
                guard UInt64(open[depth]) == tag >> 3 else { return false }
                if depth == 0 { return true }
            default: guard isValue(tag & 7, bytes, &at) else { return false }
            }
        }
        return false
    }

    /// What `varint` reads, without saying why it cannot.
    @inline(__always)
    private static func quickVarint(_ bytes: RawSpan, _ at: inout Int, _ end: Int) -> UInt64? {
        guard at < end else { return nil }
        let first = bytes[unchecked: at]
        at += 1
        if first < 0x80 { return UInt64(first) }
        var value = UInt64(first & 0x7f)
        for shift in stride(from: 7 as UInt64, to: 70, by: 7) {
            guard at < end else { return nil }
            let byte = bytes[unchecked: at]
            at += 1
            if shift == 63, byte > 1 { return nil }
            value |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }
}
