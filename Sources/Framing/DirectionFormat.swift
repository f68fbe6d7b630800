import Expressions
import Streams

/// The structure of one direction's frames.
package struct DirectionFormat: Sendable {
    /// How to determine where a frame ends.
    package var rule: any FramingRule
    /// The kinds of frames; a frame's shape has the index of its kind.
    package var layouts: [FrameLayout]
    /// How a frame's type is named.
    package var typeName: TypeName
    /// The value that names a frame's source.
    package var fromPlace: ValuePlace?
    /// The value that names a frame's target.
    package var toPlace: ValuePlace?
    /// How the body is decoded.
    package var body: BodyFormat

    /// Passes on a frame's content, with escapes resolved, and its shape.
    ///
    /// Every other method takes the content that this passes on.
    package func withContent<Result>(
        of frame: RawSpan, _ shape: FrameShape, _ use: (RawSpan, FrameShape) -> Result
    ) -> Result {
        guard let content = rule.content(of: frame, shape) else { return use(frame, shape) }
        return use(content.bytes.span.bytes, content.shape)
    }

    /// The name of a frame's type; nil if the format has none for it.
    package func type(of content: RawSpan, _ shape: FrameShape) -> String? {
        switch typeName {
        case .none: return nil
        case .field(let field):
            guard let value = self.field(field, of: content, shape) else { return layouts[shape.layout].name }
            return name(of: value, in: field, shape) ?? value.plainText
        case .layout: return layouts[shape.layout].name
        case .value(let place):
            return type(at: place, of: content, shape)
        case .cases(let cases):
            let values = FrameValues(naming: shape)
            for known in cases {
                if let condition = known.condition,
                    !values.fulfil(condition, content: content, shape: shape, format: self)
                {
                    continue
                }
                switch known.name {
                case .text(let name): return name
                case .place(let place):
                    if let found = type(at: place, of: content, shape) { return found }
                }
            }
            // Fields that name types leave the kinds without them to their own names.
            let hasPlaces = cases.contains { if case .place = $0.name { true } else { false } }
            return hasPlaces ? layouts[shape.layout].name : nil
        }
    }

    /// The type that a value names; nil if there is none. A list or an object is no type.
    private func type(at place: ValuePlace, of content: RawSpan, _ shape: FrameShape) -> String? {
        guard let value = value(at: place, of: content, shape, body: nil, isTyped: false) else { return nil }
        if case .json = value { return nil }
        return name(of: value, at: place, content, shape) ?? value.plainText
    }

    /// Decodes a frame's body.
    ///
    /// - Parameter isTyped: whether the frame's type may be evaluated; false while it is being determined.
    package func decodeBody(of content: RawSpan, _ shape: FrameShape, isTyped: Bool = true) -> DecodedBody {
        let bytes = content.extracting(shape.head..<shape.head + shape.body)
        return body(of: shape).decode(
            bytes, type: isTyped ? type(of: content, shape) : nil, head: bodyHead(of: content, shape))
    }

    /// A frame's source, from its head or body.
    package func origin(of content: RawSpan, _ shape: FrameShape) -> String? {
        fromPlace.flatMap { value(at: $0, of: content, shape)?.plainText }
    }

    /// A frame's target, from its head or body.
    package func target(of content: RawSpan, _ shape: FrameShape) -> String? {
        toPlace.flatMap { value(at: $0, of: content, shape)?.plainText }
    }

    /// The fields of a frame before and after its body, in the order in which traces show them.
    package func fields(of content: RawSpan, _ shape: FrameShape) -> [Field] {
        let layout = layouts[shape.layout]
        var fields = layout.head?.fields(of: content.extracting(0..<shape.head)) ?? []
        if let trailer = layout.trailer {
            fields += trailer.fields(of: content.extracting(shape.head + shape.body..<shape.total))
        }
        return fields + rule.notes(of: content, shape)
    }

    /// How a frame's body is decoded: as its kind says, or as all others.
    package func body(of shape: FrameShape) -> BodyFormat { layouts[shape.layout].body ?? body }

    /// How bodies are decoded, of frames of any kind.
    var bodies: [BodyFormat] { [body] + layouts.compactMap(\.body) }

    /// Whether all bodies are plain text or bytes.
    package var hasPlainBodies: Bool { body.isPlain && layouts.allSatisfy { $0.body?.isPlain ?? true } }

    /// The fields before the body, for bodies that depend on them.
    func headFields(of content: RawSpan, _ shape: FrameShape) -> [Field] {
        let fields = layouts[shape.layout].head?.fields(of: content.extracting(0..<shape.head)) ?? []
        return shape.recalled == nil ? fields : fields + rule.notes(of: content, shape)
    }

    /// One field of a frame.
    package func field(_ name: String, of content: RawSpan, _ shape: FrameShape) -> FieldValue? {
        // By index: a layout that is copied has many references to count.
        if let head = layouts[shape.layout].binary {
            if let value = head.field(name, of: content.extracting(0..<shape.head)) { return value }
        } else if let value = layouts[shape.layout].head?.field(name, of: content.extracting(0..<shape.head)) {
            return value
        }
        if let trailer = layouts[shape.layout].trailer,
            let value = trailer.field(name, of: content.extracting(shape.head + shape.body..<shape.total))
        {
            return value
        }
        // A value that earlier frames have left.
        guard shape.recalled != nil else { return nil }
        return rule.notes(of: content, shape).first { $0.name == name }?.value
    }

    /// Human-readable: the names of field values that have one, except the frame's type; nil if none has.
    package func valueNames(of content: RawSpan, _ shape: FrameShape) -> String? {
        guard let head = layouts[shape.layout].head as? BinaryHead, head.hasNames else { return nil }
        var texts: [String] = []
        for field in head.fields(of: content.extracting(0..<shape.head)) {
            if case .field(let type) = typeName, type == field.name { continue }
            if let name = head.valueName(of: field.name, field.value) { texts.append("\(field.name): \(name)") }
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    /// The name of a value, if the format has one.
    private func name(
        of value: FieldValue, at place: ValuePlace, _ content: RawSpan, _ shape: FrameShape
    ) -> String? {
        switch place {
        case .field(let field): name(of: value, in: field, shape)
        case .inField: nil
        case .body(let path): name(of: value, in: path, content, shape)
        }
    }

    /// The name of a field's value, if the format has one.
    private func name(of value: FieldValue, in field: String, _ shape: FrameShape) -> String? {
        let layout = layouts[shape.layout]
        return layout.head?.valueName(of: field, value) ?? layout.trailer?.valueName(of: field, value)
    }
}

/// How a format names the types of its frames.
package enum TypeName: Sendable {
    /// It does not.
    case none
    /// By a field's value, using the field's name for that value.
    case field(String)
    /// By the kind of the frame.
    case layout
    /// By a value of the body, using the value's name if it has one.
    case value(ValuePlace)
    /// By the first case that holds; if some are fields, otherwise by the kind of the frame.
    case cases([TypeCase])
}

/// A case of a frame's type.
package struct TypeCase: Sendable {
    /// What names the type.
    package enum Name: Sendable {
        /// This text.
        case text(String)
        /// The value at a place, if the frame has it.
        case place(ValuePlace)
    }

    /// When it applies; nil: always.
    package var condition: Expression?
    /// The name.
    package var name: Name

    /// A case.
    package init(condition: Expression?, name: Name) { (self.condition, self.name) = (condition, name) }
}

extension FieldValue {
    /// The value as plain text: bytes as hex digits, as they are shown; nil for null.
    package var plainText: String? {
        switch self {
        case .null: nil
        case .bytes(let bytes): String(decoding: Base16.encode(bytes), as: UTF8.self)
        case .text(let text), .json(let text): text
        case .boolean(let value): value ? "true" : "false"
        case .integer(let value): String(value)
        case .unsigned(let value): String(value)
        case .number(let value): String(value)
        }
    }
}
