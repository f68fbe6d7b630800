/// Protobuf messages by name, from a descriptor set (`protoc --include_imports --descriptor_set_out=FILE`).
package struct MessageSchema: Sendable {
    /// A message.
    struct Message: Sendable {
        var fields: [UInt32: Field] = [:]
        var numbers: [String: UInt32] = [:]
        var isMapEntry = false
    }

    /// A field of a message.
    struct Field: Sendable {
        var name: String
        var kind: Kind
        var isRepeated: Bool
        /// Whether its numbers are packed in one field.
        var isPacked: Bool
    }

    /// What a field holds.
    enum Kind: Sendable, Hashable {
        case int32, int64, uint32, uint64, sint32, sint64, bool
        case fixed32, fixed64, sfixed32, sfixed64, float, double
        case string, bytes
        case enumeration(String)
        case message(String)
        case group(String)
    }

    private(set) var messages: [String: Message] = [:]
    private(set) var enumerations: [String: [Int32: String]] = [:]

    /// The messages of a descriptor set.
    package init(descriptorSet bytes: [UInt8]) throws(BodyResourceError) {
        do {
            // FileDescriptorSet: file = 1.
            for file in try DescriptorMessage(bytes).messages(1) { try add(file) }
        } catch {
            throw BodyResourceError("not a descriptor set, as protoc --descriptor_set_out writes it: \(error)")
        }
        guard !messages.isEmpty else { throw BodyResourceError("the descriptor set describes no message") }
    }

    /// The full names of the messages, sorted.
    package var messageNames: [String] { messages.keys.sorted() }

    /// The full name of a message that is named in full, or by its last part if that is unambiguous.
    package func fullName(of name: String) -> String? {
        if messages[name] != nil { return name }
        let ending = messages.keys.filter { $0.hasSuffix("." + name) }
        return ending.count == 1 ? ending.first : nil
    }

    /// FileDescriptorProto: package = 2, message_type = 4, enum_type = 5, syntax = 12.
    private mutating func add(_ file: DescriptorMessage) throws(ProtobufError) {
        let scope = file.text(2)
        for type in try file.messages(5) { try add(enumeration: type, in: scope) }
        // Since proto3, numbers are packed unless the file specifies otherwise.
        let packs = file.text(12) != "" && file.text(12) != "proto2"
        for type in try file.messages(4) { try add(message: type, in: scope, packs: packs) }
    }

    /// EnumDescriptorProto: name = 1, value = 2; EnumValueDescriptorProto: name = 1, number = 2.
    private mutating func add(enumeration type: DescriptorMessage, in scope: String) throws(ProtobufError) {
        var names: [Int32: String] = [:]
        for value in try type.messages(2) {
            let number = value.number(2) ?? 0
            // Of names for the same number the first wins.
            if names[number] == nil { names[number] = value.text(1) }
        }
        enumerations[MessageSchema.join(scope, type.text(1))] = names
    }

    /// DescriptorProto: name = 1, field = 2, nested_type = 3, enum_type = 4, options = 7; MessageOptions: map_entry = 7.
    private mutating func add(
        message type: DescriptorMessage, in scope: String, packs: Bool
    ) throws(ProtobufError) {
        let name = MessageSchema.join(scope, type.text(1))
        var message = Message(isMapEntry: try type.message(7)?.flag(7) ?? false)
        for field in try type.messages(2) { try MessageSchema.add(field, to: &message, packs: packs) }
        messages[name] = message
        for inner in try type.messages(4) { try add(enumeration: inner, in: name) }
        for inner in try type.messages(3) { try add(message: inner, in: name, packs: packs) }
    }

    /// FieldDescriptorProto: name = 1, number = 3, label = 4, options = 8; FieldOptions: packed = 2.
    private static func add(
        _ field: DescriptorMessage, to message: inout Message, packs: Bool
    ) throws(ProtobufError) {
        guard let number = field.number(3).flatMap(UInt32.init(exactly:)), let kind = kind(of: field) else { return }
        let option = try field.message(8)?.flag(2)
        let isPacked = kind.packs && option ?? packs
        message.fields[number] = Field(
            name: field.text(1), kind: kind, isRepeated: field.number(4) == 3, isPacked: isPacked)
        message.numbers[field.text(1)] = number
    }

    private static func join(_ scope: String, _ name: String) -> String { scope.isEmpty ? name : scope + "." + name }

    /// FieldDescriptorProto: type = 5, type_name = 6.
    private static func kind(of field: DescriptorMessage) -> Kind? {
        // Compilers write full names, with a dot before them.
        let typeName = String(field.text(6).drop { $0 == "." })
        switch field.number(5) ?? 1 {
        case 1: return .double
        case 2: return .float
        case 3: return .int64
        case 4: return .uint64
        case 5: return .int32
        case 6: return .fixed64
        case 7: return .fixed32
        case 8: return .bool
        case 9: return .string
        case 10: return .group(typeName)
        case 11: return .message(typeName)
        case 12: return .bytes
        case 13: return .uint32
        case 14: return .enumeration(typeName)
        case 15: return .sfixed32
        case 16: return .sfixed64
        case 17: return .sint32
        case 18: return .sint64
        default: return nil
        }
    }
}
