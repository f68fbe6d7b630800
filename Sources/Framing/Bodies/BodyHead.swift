import Streams

/// What the encodings of a body may need of its frame's header.
package struct BodyHead: Sendable {
    /// The header's fields.
    var fields: [Field]
    /// The bytes of the numbers among them that are keys, as they are sent: a value has no byte order, and no zeros before it.
    var keys: [String: [UInt8]] = [:]

    /// A header with these fields.
    package init(_ fields: [Field] = []) { self.fields = fields }
}

extension DirectionFormat {
    /// What a frame's body may need of its header.
    func bodyHead(of content: RawSpan, _ shape: FrameShape) -> BodyHead {
        var head = BodyHead(headFields(of: content, shape))
        for name in body(of: shape).keyFields {
            // Bytes are their own key.
            guard head.fields.first(where: { $0.name == name })?.value.double != nil else { continue }
            head.keys[name] = layouts[shape.layout].bytes(ofNumber: name, in: content.extracting(0..<shape.head))
        }
        return head
    }
}

extension FrameLayout {
    /// What a body may need of the header that is going to be written before it.
    ///
    /// - Parameters:
    ///   - fields: the header's values.
    ///   - keys: the names of those that are keys.
    func bodyHead(of fields: [Field], keys: [String]) -> BodyHead {
        var known = BodyHead(fields)
        guard !keys.isEmpty, let bytes = draft(fields) else { return known }
        for name in keys { known.keys[name] = self.bytes(ofNumber: name, in: bytes.span.bytes) }
        return known
    }

    /// The header with these values, whatever its lengths will be; nil if there is none.
    private func draft(_ fields: [Field]) -> [UInt8]? {
        if let structured = head as? StructuredHead { return structured.draft(fields) }
        return try? binary?.encode(fields, body: 0)
    }

    /// The bytes of a binary field of the header; nil if it has none of that name.
    fileprivate func bytes(ofNumber name: String, in head: RawSpan) -> [UInt8]? {
        if let binary {
            guard let index = binary.fields.firstIndex(where: { $0.name == name }),
                binary.fields[index].kind.isBinary, let place = binary.place(of: index, in: head)
            else { return nil }
            return head.copied(place)
        }
        guard let structured = self.head as? StructuredHead,
            let place = StructurePlaces.all(structured.structure, in: head).first(where: { $0.name == name })
        else { return nil }
        switch place.item?.content {
        case .field(let field)? where field.kind.isBinary: return head.copied(place.range)
        case .sized(let value)? where value.isNumber: return head.copied(place.range)
        default: return nil
        }
    }
}
