import Streams

/// A JSON value in memory (RFC 8259). Numbers keep their text, so that no digits are lost.
public enum JSONValue: Hashable, Sendable {
    /// `null`
    case null
    /// `true` or `false`
    case boolean(Bool)
    /// A number, as written.
    case number(String)
    /// A string.
    case text(String)
    /// An array.
    case array([JSONValue])
    /// An object, its members in the order of the text.
    case object([Member])

    /// A member of an object.
    public struct Member: Hashable, Sendable {
        /// The name.
        public var name: String
        /// The value.
        public var value: JSONValue

        /// A member of an object.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }

        /// Whether names and values are the same.
        public static func == (left: Member, right: Member) -> Bool {
            left.name.hasBytes(of: right.name) && left.value == right.value
        }

        /// Adds name and value.
        public func hash(into hasher: inout Hasher) {
            name.hashBytes(into: &hasher)
            hasher.combine(value)
        }
    }

    /// Whether values are the same. Texts are if their bytes are: Unicode calls others equivalent (UAX #15), a receiver need not.
    public static func == (left: JSONValue, right: JSONValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.number(let left), .number(let right)), (.text(let left), .text(let right)): left.hasBytes(of: right)
        case (.array(let left), .array(let right)): left == right
        case (.object(let left), .object(let right)): left == right
        default: false
        }
    }

    /// Adds the value.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .number(let text):
            hasher.combine(1)
            text.hashBytes(into: &hasher)
        case .text(let text):
            hasher.combine(2)
            text.hashBytes(into: &hasher)
        case .array(let values): hasher.combine(values)
        case .object(let members): hasher.combine(members)
        }
    }

    /// The value of a member; nil if this is not an object, or has none of that name.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The text of a string; otherwise nil.
    public var string: String? { if case .text(let text) = self { text } else { nil } }
    /// A whole number; otherwise nil.
    public var integer: Int? { if case .number(let text) = self { Int(text) } else { nil } }
    /// A truth value; otherwise nil.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// A whole number.
    package static func integer(_ value: Int) -> JSONValue { .number(String(value)) }
    /// A number; null if JSON cannot represent it (RFC 8259 section 6).
    package static func number(_ value: Double) -> JSONValue { value.isFinite ? .number(String(value)) : .null }
    /// An object of these members, in this order.
    package static func members(_ members: [(String, JSONValue)]) -> JSONValue {
        .object(members.map { Member($0.0, $0.1) })
    }
    /// An object of fields.
    package static func fields(_ fields: [Field]) -> JSONValue {
        .object(fields.map { Member($0.name, JSONValue($0.value)) })
    }

    /// The text of a string, a number or a truth value, without quotes; otherwise nil.
    public var plainText: String? {
        switch self {
        case .text(let text), .number(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .null, .array, .object: nil
        }
    }

    /// The bytes of `{"hex":…}`, which stands for text that is not UTF-8; otherwise nil.
    var hexBytes: [UInt8]? { self["hex"]?.field?.rawBytes }
}

extension String {
    /// Whether both have the same UTF-8.
    package func hasBytes(of other: String) -> Bool {
        var (own, other) = (self, other)
        return own.withUTF8 { own in other.withUTF8 { own.count == $0.count && own.elementsEqual($0) } }
    }

    /// Adds the UTF-8.
    package func hashBytes(into hasher: inout Hasher) {
        var text = self
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

extension JSONValue {
    /// Bodies may nest as deeply as their decoder allows; a line adds two levels around them.
    private static let depthLimit = JSONTokens.depthLimit + 4

    private struct Container {
        var isObject: Bool
        var members: [Member] = []
        var key = ""

        var value: JSONValue { isObject ? .object(members) : .array(members.map(\.value)) }
        mutating func add(_ value: JSONValue) { members.append(Member(key, value)) }
    }

    /// Parses a JSON text (RFC 8259).
    package init(parsing text: RawSpan) throws(JSONSyntaxError) {
        if let offset = text.firstInvalidUTF8() { throw JSONSyntaxError(offset: offset, expected: "UTF-8") }
        var tokens = JSONTokens(depthLimit: Self.depthLimit)
        // Open containers are kept in an array: nesting costs no stack.
        var open = [Container(isObject: false)]
        while let token = try tokens.next(text) {
            switch token {
            case .beginObject: open.append(Container(isObject: true))
            case .beginArray: open.append(Container(isObject: false))
            case .key(let range): open[open.count - 1].key = JSONText.string(range, escaped: true, in: text)
            case .scalar(let kind, let range): open[open.count - 1].add(Self.scalar(kind, range, text))
            case .endObject, .endArray:
                let value = open.removeLast().value
                open[open.count - 1].add(value)
            }
        }
        self = open[0].members.first?.value ?? .null
    }

    private static func scalar(_ kind: JSONScanner.Kind, _ range: Range<Int>, _ text: RawSpan) -> JSONValue {
        switch kind {
        case .boolean(let value): .boolean(value)
        case .string(let escaped): .text(JSONText.string(range, escaped: escaped, in: text))
        case .number: .number(text.extracting(range).withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        case .null, .array, .object: .null
        }
    }

    /// The value as compact JSON, control characters escaped.
    public var compactText: String {
        var bytes: [UInt8] = []
        write(into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Writes the value as compact JSON.
    package func write(into bytes: inout [UInt8]) {
        switch self {
        case .null: bytes += Array("null".utf8)
        case .boolean(let value): bytes += Array((value ? "true" : "false").utf8)
        case .number(let text): bytes += Array(text.utf8)
        case .text(let text): JSONOutput.string(text, into: &bytes)
        case .array(let values):
            bytes.append(UInt8(ascii: "["))
            for (index, value) in values.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "]"))
        case .object(let members):
            bytes.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { bytes.append(UInt8(ascii: ",")) }
                JSONOutput.string(member.name, into: &bytes)
                bytes.append(UInt8(ascii: ":"))
                member.value.write(into: &bytes)
            }
            bytes.append(UInt8(ascii: "}"))
        }
    }
}

extension JSONValue {
    /// The value of a field, as traces write it: bytes in hex, and a number that JSON cannot represent as null.
    package init(_ field: FieldValue) {
        switch field {
        case .null: self = .null
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .number(String(value))
        case .unsigned(let value): self = .number(String(value))
        case .number(let value): self = .number(value)
        case .text(let text): self = .text(text)
        case .json(let text): self = JSONValue(compact: Array(text.utf8).span.bytes)
        case .bytes(let bytes):
            var hex: [UInt8] = []
            JSONOutput.hex(bytes.span.bytes, into: &hex)
            self = .text(String(decoding: hex, as: UTF8.self))
        }
    }

    /// The value of decoded JSON. A decoder has checked its syntax; anything else becomes text.
    package init(compact bytes: RawSpan) {
        do throws(JSONSyntaxError) {
            self = try JSONValue(parsing: bytes)
        } catch {
            self = .text(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
        }
    }

    /// This value as a field's value; nil for arrays and objects.
    package var scalar: FieldValue? {
        switch self {
        case .null: .null
        case .boolean(let value): .boolean(value)
        case .number(let text):
            JSONText.number(
                0..<text.utf8.count, fractional: text.utf8.contains { ".eE".utf8.contains($0) },
                in: Array(text.utf8).span.bytes)
        case .text(let text): .text(text)
        case .array, .object: nil
        }
    }
}
