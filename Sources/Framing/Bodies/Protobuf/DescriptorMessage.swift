/// A message of a descriptor set, by field numbers: what describes Protobuf messages is itself Protobuf
/// (https://github.com/protocolbuffers/protobuf/blob/main/src/google/protobuf/descriptor.proto).
struct DescriptorMessage {
    private var fields: [UInt32: [ProtobufField.Value]] = [:]
    private let bytes: [UInt8]
    /// How many messages it is in.
    private let depth: Int

    /// The message that fills these bytes.
    init(_ bytes: [UInt8]) throws(ProtobufError) { try self.init(bytes, in: bytes.indices, depth: 0) }

    private init(_ bytes: [UInt8], in range: Range<Int>, depth: Int) throws(ProtobufError) {
        guard depth < ProtobufReader.nestingLimit else {
            throw ProtobufError(description: "more than \(depth) messages in one another at byte \(range.lowerBound)")
        }
        (self.bytes, self.depth) = (bytes, depth)
        var reader = ProtobufReader()
        for field in try reader.fields(of: bytes.span.bytes, in: range) {
            fields[field.number, default: []].append(field.value)
        }
    }

    /// The messages of a repeated field.
    func messages(_ number: UInt32) throws(ProtobufError) -> [DescriptorMessage] {
        var messages: [DescriptorMessage] = []
        for case .bytes(let range) in fields[number] ?? [] {
            messages.append(try DescriptorMessage(bytes, in: range, depth: depth + 1))
        }
        return messages
    }

    /// The last message of a field, which is what counts; nil if there is none.
    func message(_ number: UInt32) throws(ProtobufError) -> DescriptorMessage? { try messages(number).last }

    /// A text; empty if there is none.
    func text(_ number: UInt32) -> String {
        guard case .bytes(let range)? = fields[number]?.last else { return "" }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// A number; nil if there is none.
    func number(_ number: UInt32) -> Int32? {
        guard case .varint(let value)? = fields[number]?.last else { return nil }
        return Int32(truncatingIfNeeded: value)
    }

    /// A truth value; nil if there is none.
    func flag(_ number: UInt32) -> Bool? {
        guard case .varint(let value)? = fields[number]?.last else { return nil }
        return value != 0
    }
}
