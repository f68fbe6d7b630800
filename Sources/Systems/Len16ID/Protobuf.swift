/// The subset of Protobuf that the messages of `len16-id` need: varint and length-delimited fields, on one level.
///
/// Protocol Buffers documentation, "Encoding".
struct Protobuf: Hashable, Sendable {
    /// A field's value.
    enum Value: Hashable, Sendable {
        case varint(UInt64)
        case bytes([UInt8])
    }

    /// The fields by number; for a repeated one, the last.
    private(set) var fields: [UInt32: Value] = [:]

    /// A message of these fields. Fields with the default value are omitted, as in proto3.
    init(_ fields: [UInt32: Value]) {
        self.fields = fields.filter { $0.value != .varint(0) && $0.value != .bytes([]) }
    }

    /// Parses a message; nil if the bytes are not one.
    init?(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard let key = Self.varint(&rest), let number = UInt32(exactly: key >> 3), number > 0 else { return nil }
            switch key & 7 {
            case 0:
                guard let value = Self.varint(&rest) else { return nil }
                fields[number] = .varint(value)
            case 2:
                guard let count = Self.varint(&rest), count <= UInt64(rest.count) else { return nil }
                fields[number] = .bytes(Array(rest.prefix(Int(count))))
                rest = rest.dropFirst(Int(count))
            case 1, 5:
                let count = key & 7 == 1 ? 8 : 4
                guard rest.count >= count else { return nil }
                rest = rest.dropFirst(count)
            default: return nil
            }
        }
    }

    /// The message, its fields by number.
    var bytes: [UInt8] {
        fields.sorted { $0.key < $1.key }.flatMap { number, value in
            switch value {
            case .varint(let value): Self.varint(UInt64(number) << 3) + Self.varint(value)
            case .bytes(let bytes): Self.varint(UInt64(number) << 3 | 2) + Self.varint(UInt64(bytes.count)) + bytes
            }
        }
    }

    /// A field as text; empty if it is missing or not UTF-8.
    func text(_ number: UInt32) -> String {
        guard case .bytes(let bytes)? = fields[number] else { return "" }
        return String(validating: bytes, as: UTF8.self) ?? ""
    }

    /// A field as a number; 0 if it is missing.
    func number(_ number: UInt32) -> UInt64 {
        guard case .varint(let value)? = fields[number] else { return 0 }
        return value
    }

    private static func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest > 0x7f {
            bytes.append(UInt8(rest & 0x7f) | 0x80)
            rest >>= 7
        }
        return bytes + [UInt8(rest)]
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
        var value: UInt64 = 0
        for index in 0..<10 {
            guard let byte = rest.popFirst() else { return nil }
            // The tenth byte has room for one bit.
            guard index < 9 || byte <= 1 else { return nil }
            value |= UInt64(byte & 0x7f) << UInt64(7 * index)
            if byte < 0x80 { return value }
        }
        return nil
    }
}
