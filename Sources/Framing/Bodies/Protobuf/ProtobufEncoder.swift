import Streams

/// Writes a Protobuf message from the JSON that `ProtobufDecoder` produces.
///
/// Members are named as fields of the message or by number; by number, whole numbers and booleans are varints, texts are bytes,
/// and `{"hex":…}`, `{"fixed32":…}`, `{"fixed64":…}` and `{"group":{…}}` are values of those kinds. Fields are written in the
/// order of the JSON.
struct ProtobufEncoder {
    private let schema: MessageSchema?

    /// The message that JSON text describes.
    static func message(
        _ json: RawSpan, type: String?, schema: MessageSchema?
    ) throws(EncodingError) -> [UInt8] {
        let tree: JSONValue
        do throws(JSONSyntaxError) {
            tree = try JSONValue(parsing: json)
        } catch {
            throw EncodingError("the body is no JSON: \(error)")
        }
        return try ProtobufEncoder(schema: schema).message(tree, type, depth: 0)
    }

    private func message(_ tree: JSONValue, _ name: String?, depth: Int) throws(EncodingError) -> [UInt8] {
        guard case .object(let members) = tree else { throw EncodingError("a Protobuf message should be an object") }
        guard depth < ProtobufReader.nestingLimit else {
            throw EncodingError("more than \(ProtobufReader.nestingLimit) messages in one another")
        }
        let type = name.flatMap { schema?.messages[$0] }
        var output: [UInt8] = []
        for (member, value) in members.lazy.map({ ($0.name, $0.value) }) {
            if let number = type?.numbers[member], let field = type?.fields[number] {
                try known(number, field, value, depth, &output)
            } else if let number = UInt32(member), (1..<1 << 29).contains(number) {
                for value in value.elements { try unknown(number, value, depth, &output) }
            } else if let name {
                throw EncodingError("the message \(name) has no field \(member)")
            } else {
                throw EncodingError("\(member) is no field number from 1 to 536870911, and the message is not known")
            }
        }
        return output
    }

    // MARK: By name

    private func known(
        _ number: UInt32, _ field: MessageSchema.Field, _ value: JSONValue, _ depth: Int, _ output: inout [UInt8]
    ) throws(EncodingError) {
        if case .message(let name) = field.kind, let entry = schema?.messages[name], entry.isMapEntry,
            case .object(let members) = value, let key = entry.fields[1], let item = entry.fields[2]
        {
            for member in members {
                var inner: [UInt8] = []
                try one(1, key.kind, .text(member.name), depth + 1, &inner)
                try one(2, item.kind, member.value, depth + 1, &inner)
                bytes(number, inner, &output)
            }
        } else if field.isRepeated, field.isPacked {
            var inner: [UInt8] = []
            for element in value.elements { try scalar(field.kind, element, &inner) }
            bytes(number, inner, &output)
        } else {
            for element in value.elements { try one(number, field.kind, element, depth, &output) }
        }
    }

    private func one(
        _ number: UInt32, _ kind: MessageSchema.Kind, _ value: JSONValue, _ depth: Int, _ output: inout [UInt8]
    ) throws(EncodingError) {
        switch (kind, value) {
        case (.message(let name), _): bytes(number, try message(value, name, depth: depth + 1), &output)
        case (.group(let name), _): group(number, try message(value, name, depth: depth + 1), &output)
        case (.string, .text(let text)): bytes(number, Array(text.utf8), &output)
        case (.bytes, .text(let text)): bytes(number, try hex(text), &output)
        case (.string, _), (.bytes, _): throw EncodingError("field \(number) should be a string")
        default:
            tag(number, kind.wireType, &output)
            try scalar(kind, value, &output)
        }
    }

    /// A number without its tag.
    private func scalar(
        _ kind: MessageSchema.Kind, _ value: JSONValue, _ output: inout [UInt8]
    ) throws(EncodingError) {
        guard let value = value.scalar, let bits = bits(kind, value) else {
            throw EncodingError("a number was expected for a field of kind \(kind)")
        }
        switch kind.wireType {
        case 1: fixed(bits, 8, &output)
        case 5: fixed(bits, 4, &output)
        default: varint(bits, &output)
        }
    }

    /// The wire representation of a value; nil if it is not of that kind. The keys of maps are text.
    private func bits(_ kind: MessageSchema.Kind, _ value: FieldValue) -> UInt64? {
        switch (kind, value) {
        case (.enumeration(let name), .text(let text)):
            let number = schema?.enumerations[name]?.first { $0.value == text }?.key
            return number.map { UInt64(bitPattern: Int64($0)) }
        case (.bool, .boolean(let value)): return value ? 1 : 0
        case (.bool, .text(let text)): return text == "true" ? 1 : text == "false" ? 0 : nil
        case (.float, _): return double(value).map { UInt64(Float($0).bitPattern) }
        case (.double, _): return double(value)?.bitPattern
        case (.sint32, _), (.sint64, _): return integer(value).map { UInt64(bitPattern: $0 << 1 ^ $0 >> 63) }
        case (_, .unsigned(let value)): return value
        case (.uint64, .text(let text)), (.fixed64, .text(let text)): return UInt64(text)
        default: return integer(value).map(UInt64.init(bitPattern:))
        }
    }

    private func integer(_ value: FieldValue) -> Int64? {
        switch value {
        case .integer(let value): value
        case .text(let text): Int64(text)
        default: nil
        }
    }

    private func double(_ value: FieldValue) -> Double? {
        switch value {
        case .text(let text): ["NaN": Double.nan, "Infinity": .infinity, "-Infinity": -.infinity][text]
        default: value.double
        }
    }

    // MARK: By number

    private func unknown(
        _ number: UInt32, _ value: JSONValue, _ depth: Int, _ output: inout [UInt8]
    ) throws(EncodingError) {
        switch (value, value.scalar) {
        case (_, .integer(let value)?):
            tag(number, 0, &output)
            varint(UInt64(bitPattern: value), &output)
        case (_, .unsigned(let value)?):
            tag(number, 0, &output)
            varint(value, &output)
        case (_, .boolean(let value)?):
            tag(number, 0, &output)
            varint(value ? 1 : 0, &output)
        case (_, .text(let text)?): bytes(number, Array(text.utf8), &output)
        case (.object(let members), _) where members.count == 1 && UInt32(members[0].name) == nil:
            try labelled(number, members[0].name, members[0].value, depth, &output)
        case (.object, _): bytes(number, try message(value, nil, depth: depth + 1), &output)
        default:
            throw EncodingError(
                "field \(number) should be a whole number, a text, an object, or an array of those; a fraction is "
                    + "written by its bits, {\"fixed64\": …}")
        }
    }

    private func labelled(
        _ number: UInt32, _ label: String, _ value: JSONValue, _ depth: Int, _ output: inout [UInt8]
    ) throws(EncodingError) {
        switch (label, value) {
        case ("hex", .text(let text)): bytes(number, try hex(text), &output)
        case ("group", _): group(number, try message(value, nil, depth: depth + 1), &output)
        case ("fixed32", _) where value.scalar != nil:
            tag(number, 5, &output)
            try scalar(.fixed32, value, &output)
        case ("fixed64", _) where value.scalar != nil:
            tag(number, 1, &output)
            try scalar(.fixed64, value, &output)
        default: throw EncodingError("field \(number) has \(label), which is none of hex, fixed32, fixed64, group")
        }
    }

    // MARK: On the wire

    private func hex(_ text: String) throws(EncodingError) -> [UInt8] {
        do throws(TextualBytesError) {
            return try Base16.decode(Array(text.utf8).span.bytes)
        } catch {
            throw EncodingError("hex: \(error)")
        }
    }

    private func tag(_ number: UInt32, _ type: UInt8, _ output: inout [UInt8]) {
        varint(UInt64(number) << 3 | UInt64(type), &output)
    }

    private func bytes(_ number: UInt32, _ bytes: [UInt8], _ output: inout [UInt8]) {
        tag(number, 2, &output)
        varint(UInt64(bytes.count), &output)
        output += bytes
    }

    private func group(_ number: UInt32, _ content: [UInt8], _ output: inout [UInt8]) {
        tag(number, 3, &output)
        output += content
        tag(number, 4, &output)
    }

    private func varint(_ value: UInt64, _ output: inout [UInt8]) {
        var rest = value
        while rest >= 0x80 {
            output.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        output.append(UInt8(rest))
    }

    private func fixed(_ value: UInt64, _ size: Int, _ output: inout [UInt8]) {
        for at in 0..<size { output.append(UInt8(truncatingIfNeeded: value >> UInt64(8 * at))) }
    }
}

extension JSONValue {
    /// The elements of an array; any other value is its only one.
    fileprivate var elements: [JSONValue] {
        if case .array(let elements) = self { return elements }
        return [self]
    }
}
