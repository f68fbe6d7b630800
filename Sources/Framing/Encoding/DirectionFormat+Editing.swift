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
    /// - Returns: the frame's bytes.
    package func edit(
        _ content: RawSpan, _ shape: FrameShape, changes: [Field], body: BodyContent?, isRaw: Bool
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        for field in changes where !layout.has(field.name) {
            let known = layout.fieldNames.joined(separator: ", ")
            throw EncodingError("the frame has no field \(field.name); it has \(known.isEmpty ? "none" : known)")
        }
        let body = try body.map { body throws(EncodingError) in
            try self.body(of: shape).encode(body, type: type(of: content, shape), head: headFields(of: content, shape))
        }
        if isRaw { return try overwrite(content, shape, changes, body: body) }
        return try layout.rebuild(
            fields(of: content, shape), changes, body: body ?? content.copied(shape.head..<shape.head + shape.body))
    }

    /// The frame with bytes replaced where they are, and nothing else changed.
    private func overwrite(
        _ content: RawSpan, _ shape: FrameShape, _ changes: [Field], body: [UInt8]?
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        var pieces: [(place: Range<Int>, bytes: [UInt8])] = []
        for change in changes {
            guard let place = place(ofField: change.name, in: content, shape) else {
                throw EncodingError("\(change.name) has no bytes of its own to overwrite")
            }
            pieces.append((place, try layout.bytes(of: change, place.count)))
        }
        if let body { pieces.append((shape.head..<shape.head + shape.body, body)) }
        var bytes = content.copied(0..<content.byteCount)
        var shape = shape
        // From the end, so that places stay where they are.
        for (place, new) in pieces.sorted(by: { $0.place.lowerBound > $1.place.lowerBound }) {
            bytes.replaceSubrange(place, with: new)
            let growth = new.count - place.count
            if place.lowerBound < shape.head {
                shape.head += growth
            } else if place.lowerBound < shape.head + shape.body || body != nil && place.isEmpty {
                shape.body += growth
            } else {
                shape.tail += growth
            }
        }
        return rule.transforms ? try rewrap(bytes, shape) : bytes
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
        return try write(fields, body: body, verifying: changes)
    }

    /// A field's new value as the bytes that stand for it, in a place of this size.
    fileprivate func bytes(of change: Field, _ size: Int) throws(EncodingError) -> [UInt8] {
        guard let field = headerFields.first(where: { $0.name == change.name }) else {
            var text: [UInt8] = []
            JSONOutput.value(change.value, into: &text)
            return text
        }
        let bytes = try BinaryHead.encode(change.value.unnamed(field.names), as: field)
        if bytes.count == size { return bytes }
        throw EncodingError("\(change.name) has \(size) bytes and would have \(bytes.count)")
    }

    private var headerFields: [HeaderField] { ((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? []) }
}

// MARK: Places

extension DirectionFormat {
    /// Where a field of the head or the trailer is in a frame's content; for a JSON head its value. Nil if the frame has none of
    /// that name.
    package func place(ofField name: String, in content: RawSpan, _ shape: FrameShape) -> Range<Int>? {
        let layout = layouts[shape.layout]
        let head = content.extracting(0..<shape.head)
        if layout.head is JSONHead {
            if let place = JSONHead.place(of: name, in: head) { return place }
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
