import SwiftProtobuf

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
        let set: Google_Protobuf_FileDescriptorSet
        do {
            set = try Google_Protobuf_FileDescriptorSet(serializedBytes: bytes)
        } catch {
            throw BodyResourceError("not a descriptor set, as protoc --descriptor_set_out writes it: \(error)")
        }
        for file in set.file {
            for type in file.enumType { add(type, in: file.package) }
            // Since proto3, numbers are packed unless the file specifies otherwise.
            let packs = file.syntax != "" && file.syntax != "proto2"
            for type in file.messageType { add(type, in: file.package, packs: packs) }
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

    private mutating func add(_ type: Google_Protobuf_EnumDescriptorProto, in scope: String) {
        var names: [Int32: String] = [:]
        // Of names for the same number the first wins.
        for value in type.value where names[value.number] == nil { names[value.number] = value.name }
        enumerations[MessageSchema.join(scope, type.name)] = names
    }

    private mutating func add(_ type: Google_Protobuf_DescriptorProto, in scope: String, packs: Bool) {
        let name = MessageSchema.join(scope, type.name)
        var message = Message(isMapEntry: type.options.mapEntry)
        for field in type.field {
            guard let number = UInt32(exactly: field.number), let kind = MessageSchema.kind(of: field) else { continue }
            let isPacked = kind.packs && (field.options.hasPacked ? field.options.packed : packs)
            message.fields[number] = Field(
                name: field.name, kind: kind, isRepeated: field.label == .repeated, isPacked: isPacked)
            message.numbers[field.name] = number
        }
        messages[name] = message
        for inner in type.enumType { add(inner, in: name) }
        for inner in type.nestedType { add(inner, in: name, packs: packs) }
    }

    private static func join(_ scope: String, _ name: String) -> String { scope.isEmpty ? name : scope + "." + name }

    private static func kind(of field: Google_Protobuf_FieldDescriptorProto) -> Kind? {
        // Compilers write full names, with a dot before them.
        let typeName = String(field.typeName.drop { $0 == "." })
        switch field.type {
        case .double: return .double
        case .float: return .float
        case .int64: return .int64
        case .uint64: return .uint64
        case .int32: return .int32
        case .fixed64: return .fixed64
        case .fixed32: return .fixed32
        case .bool: return .bool
        case .string: return .string
        case .group: return .group(typeName)
        case .message: return .message(typeName)
        case .bytes: return .bytes
        case .uint32: return .uint32
        case .enum: return .enumeration(typeName)
        case .sfixed32: return .sfixed32
        case .sfixed64: return .sfixed64
        case .sint32: return .sint32
        case .sint64: return .sint64
        }
    }
}
