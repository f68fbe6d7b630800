import Streams

extension DirectionFormat {
    /// The bytes of a frame in which fields or the body are replaced.
    ///
    /// - Parameters:
    ///   - content: the frame's content, escapes resolved.
    ///   - shape: its parts.
    ///   - changes: the new values of fields; they replace constants only if `isRaw`.
    ///   - body: the new body; nil: the frame's own.
    ///   - isRaw: whether lengths, counts and checksums stay as they are, so that they may be wrong. Otherwise they are recomputed.
    package func edit(
        _ content: RawSpan, _ shape: FrameShape, changes: [Field], body: BodyContent?, isRaw: Bool
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        for field in changes where !layout.has(field.name) {
            let known = layout.fieldNames.joined(separator: ", ")
            throw EncodingError("the frame has no field \(field.name); it has \(known.isEmpty ? "none" : known)")
        }
        var bytes = content.copied(shape.head..<shape.head + shape.body)
        if let body { bytes = try self.body.encode(body, type: type(of: content, shape)) }
        return isRaw
            ? try layout.overwrite(content, shape, changes, body: bytes)
            : try layout.rebuild(fields(of: content, shape), changes, body: bytes)
    }
}

extension FrameLayout {
    /// The frame with other values, everything that follows from them recomputed.
    fileprivate func rebuild(
        _ fields: [Field], _ changes: [Field], body: [UInt8]
    ) throws(EncodingError) -> [UInt8] {
        var fields = fields
        for change in changes {
            if let field = headerFields.first(where: { $0.name == change.name }) {
                if field.constant != nil {
                    throw EncodingError("\(change.name) always has the same value; raw: true overwrites it")
                }
                // The bits that it consists of follow from it.
                fields.removeAll { known in field.bits.contains { $0.name == known.name } }
            } else if let field = headerFields.first(where: { $0.bits.contains { $0.name == change.name } }) {
                fields.removeAll { $0.name == field.name }
            }
            if let index = fields.firstIndex(where: { $0.name == change.name }) {
                fields[index] = change
            } else {
                fields.append(change)
            }
        }
        var parts = FrameParts(
            head: try head?.encode(fields, body: body.count) ?? [], body: body,
            trailer: try trailer?.encode(fields, body: body.count) ?? [])
        parts.given = fields
        try rule.fillIn(&parts)
        try fillInChecksums(&parts)
        return try rule.encode(parts)
    }

    /// The frame with bytes overwritten, and nothing else changed.
    fileprivate func overwrite(
        _ content: RawSpan, _ shape: FrameShape, _ changes: [Field], body: [UInt8]
    ) throws(EncodingError) -> [UInt8] {
        var parts = FrameParts(
            head: content.copied(0..<shape.head), body: body,
            trailer: trailer == nil ? [] : content.copied(shape.head + shape.body..<shape.total))
        if let head = head as? JSONHead {
            var fields = head.fields(of: parts.head.span.bytes)
            for change in changes {
                fields.removeAll { $0.name == change.name }
                fields.append(change)
            }
            if !changes.isEmpty { parts.head = try JSONHead(sizeField: nil).encode(fields, body: body.count) }
        } else {
            for change in changes {
                if let head = head as? BinaryHead, try head.overwrite(change, in: &parts.head) { continue }
                if try trailer?.overwrite(change, in: &parts.trailer) == true { continue }
                throw EncodingError("\(change.name) has no bytes of its own to overwrite")
            }
            if head == nil { parts.head = [] }
        }
        parts.given = changes
        return try rule.encode(parts)
    }

    private var headerFields: [HeaderField] { ((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? []) }
}

extension BinaryHead {
    /// Overwrites a field, which keeps its size; false if there is none of that name.
    fileprivate func overwrite(_ change: Field, in bytes: inout [UInt8]) throws(EncodingError) -> Bool {
        guard let index = fields.firstIndex(where: { $0.name == change.name }),
            let place = place(of: index, in: bytes.span.bytes)
        else { return false }
        let written = try BinaryHead.encode(change.value.unnamed(fields[index].names), as: fields[index])
        guard written.count == place.count else {
            throw EncodingError("\(change.name) has \(place.count) bytes and would have \(written.count)")
        }
        bytes.replaceSubrange(place, with: written)
        return true
    }
}

// MARK: Places

extension DirectionFormat {
    /// Where a field of the head or the trailer is in a frame's content; for a JSON head its value. Nil if the frame has none of
    /// that name.
    package func place(ofField name: String, in content: RawSpan, _ shape: FrameShape) -> Range<Int>? {
        let layout = layouts[shape.layout]
        let head = content.extracting(0..<shape.head)
        if let json = layout.head as? JSONHead {
            if let place = try? json.place(of: name, inChecked: head) { return place.range }
        } else if let binary = layout.head as? BinaryHead, let place = binary.place(ofField: name, in: head) {
            return place
        }
        let tail = content.extracting(shape.head + shape.body..<shape.total)
        guard let place = layout.trailer?.place(ofField: name, in: tail) else { return nil }
        return place.lowerBound + shape.head + shape.body..<place.upperBound + shape.head + shape.body
    }

    /// Where the checksums are in a frame's content.
    package func placesOfChecksums(in content: RawSpan, _ shape: FrameShape) -> [Range<Int>] {
        let layout = layouts[shape.layout]
        let fields = ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? [])
        return fields.filter { $0.checksum != nil }.compactMap { place(ofField: $0.name, in: content, shape) }
    }

    /// The frame with other content, which has the same parts: what the rule adds is added, and nothing recomputed.
    package func rewrap(_ content: [UInt8], _ shape: FrameShape) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        let end = shape.head + shape.body
        var parts = FrameParts(
            head: layout.head == nil ? [] : Array(content[..<shape.head]), body: Array(content[shape.head..<end]),
            trailer: layout.trailer == nil ? [] : Array(content[end...]))
        let span = content.span.bytes
        parts.given = fields(of: span, shape)
        return try layout.rule.encode(parts)
    }
}

extension BinaryHead {
    fileprivate func place(ofField name: String, in bytes: RawSpan) -> Range<Int>? {
        fields.firstIndex { $0.name == name }.flatMap { place(of: $0, in: bytes) }
    }
}
