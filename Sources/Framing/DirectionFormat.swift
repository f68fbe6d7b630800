import Expressions
import Streams

/// What the frames of one direction are like.
public struct DirectionFormat: Sendable {
    /// How to tell where a frame ends.
    public var rule: any FramingRule
    /// The kinds of frames there are; a frame's shape says which it is.
    public var layouts: [FrameLayout]
    /// What a frame's type is called.
    public var typeName: TypeName
    /// The value that names who a frame is from.
    public var fromPlace: ValuePlace?
    /// The value that names who a frame is for.
    public var toPlace: ValuePlace?
    /// How the body is to be read.
    package var body: BodyFormat

    /// Hands over what a frame's bytes stand for, escapes resolved, with the parts of that.
    ///
    /// Every other method takes what this hands over.
    public func withContent<Result>(
        of frame: RawSpan, _ shape: FrameShape, _ use: (RawSpan, FrameShape) -> Result
    ) -> Result {
        guard let content = rule.content(of: frame, shape) else { return use(frame, shape) }
        return use(content.bytes.span.bytes, content.shape)
    }

    /// The name of a frame's type; nil where the format has none for it.
    public func type(of content: RawSpan, _ shape: FrameShape) -> String? {
        switch typeName {
        case .none: return nil
        case .field(let field):
            guard let value = self.field(field, of: content, shape) else { return layouts[shape.layout].name }
            return name(of: value, in: field, shape) ?? value.plainText
        case .layout: return layouts[shape.layout].name
        case .value(let path):
            guard case .text(let name) = value(at: path, of: content, shape, body: nil, isTyped: false) else {
                return nil
            }
            return name
        case .cases(let cases):
            let values = FrameValues(naming: shape)
            return cases.first {
                $0.condition.map { values.fulfil($0, content: content, shape: shape, format: self) } ?? true
            }?.name
        }
    }

    /// What a frame's body is.
    ///
    /// - Parameter isTyped: whether the frame's type may be asked for; not while it is being found out.
    package func decodeBody(of content: RawSpan, _ shape: FrameShape, isTyped: Bool = true) -> DecodedBody {
        let bytes = content.extracting(shape.head..<shape.head + shape.body)
        return body.decode(bytes, type: isTyped ? type(of: content, shape) : nil)
    }

    /// Who a frame is from, as its head or body says.
    public func origin(of content: RawSpan, _ shape: FrameShape) -> String? {
        fromPlace.flatMap { value(at: $0, of: content, shape)?.plainText }
    }

    /// Who a frame is for, as its head or body says.
    public func target(of content: RawSpan, _ shape: FrameShape) -> String? {
        toPlace.flatMap { value(at: $0, of: content, shape)?.plainText }
    }

    /// The fields of a frame before and behind its body, in the order traces show them.
    public func fields(of content: RawSpan, _ shape: FrameShape) -> [Field] {
        let layout = layouts[shape.layout]
        var fields = layout.head?.fields(of: content.extracting(0..<shape.head)) ?? []
        if let trailer = layout.trailer {
            fields += trailer.fields(of: content.extracting(shape.head + shape.body..<shape.total))
        }
        return fields + rule.notes(of: content, shape)
    }

    /// One field of a frame.
    public func field(_ name: String, of content: RawSpan, _ shape: FrameShape) -> FieldValue? {
        let layout = layouts[shape.layout]
        if let value = layout.head?.field(name, of: content.extracting(0..<shape.head)) { return value }
        guard let trailer = layout.trailer else { return nil }
        return trailer.field(name, of: content.extracting(shape.head + shape.body..<shape.total))
    }

    /// For people: what the values of fields that have names are called, but for the frame's type; nil where none has any.
    package func valueNames(of content: RawSpan, _ shape: FrameShape) -> String? {
        guard let head = layouts[shape.layout].head as? BinaryHead, head.hasNames else { return nil }
        var texts: [String] = []
        for field in head.fields(of: content.extracting(0..<shape.head)) {
            if case .field(let type) = typeName, type == field.name { continue }
            if let name = head.valueName(of: field.name, field.value) { texts.append("\(field.name): \(name)") }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    /// What a field's value is called, where the format has a name for it.
    private func name(of value: FieldValue, in field: String, _ shape: FrameShape) -> String? {
        let layout = layouts[shape.layout]
        return (layout.head as? BinaryHead)?.valueName(of: field, value) ?? layout.trailer?.valueName(of: field, value)
    }
}

/// How a format names the types of its frames.
public enum TypeName: Sendable {
    /// It does not.
    case none
    /// By a field's value, under the name that the field has for it.
    case field(String)
    /// By the kind of the frame.
    case layout
    /// By a value of the body, where that is text.
    case value(ValuePlace)
    /// By the first condition that holds; one without condition always does.
    case cases([(condition: Expression?, name: String)])
}

extension FieldValue {
    /// The value as plain text; nil for null and bytes.
    package var plainText: String? {
        switch self {
        case .null, .bytes: nil
        case .text(let text), .json(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        }
    }
}
