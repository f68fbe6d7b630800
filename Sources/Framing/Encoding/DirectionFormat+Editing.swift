import Streams

extension DirectionFormat {
    /// The bytes of a frame in which fields or the body are replaced.
    ///
    /// - Parameters:
    ///   - content: the frame's content, escapes resolved.
    ///   - shape: its parts.
    ///   - changes: the new values of fields; they replace constants only if `isRaw`.
    ///   - body: the new body; nil: the frame's own, which is masked anew if its key changes.
    ///   - isRaw: whether lengths, counts, checksums and the frame's own body stay as they are, so that they may be wrong. Otherwise
    ///     they are recomputed.
    /// - Returns: the frame's bytes.
    package func edit(
        _ content: RawSpan, _ shape: FrameShape, changes: [Field], body: BodyContent?, isRaw: Bool
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        for field in changes where !layout.has(field.name) {
            let known = layout.fieldNames.joined(separator: ", ")
            throw EncodingError("the frame has no field \(field.name); it has \(known.isEmpty ? "none" : known)")
        }
        let known = fields(of: content, shape)
        // Fields that are given as they are do not have to follow from the others.
        let changes = changes.filter { change in
            !known.contains { $0.name == change.name && JSONValue($0.value) == JSONValue(change.value) }
        }
        let body = try encode(body, of: content, shape, changes, isRaw: isRaw)
        if isRaw { return try overwrite(content, shape, changes, body: body) }
        let end = shape.head + shape.body
        var old = FrameParts(
            head: content.copied(0..<shape.head - layout.delimiterLength),
            body: body ?? content.copied(shape.head..<end), trailer: content.copied(end..<shape.total))
        old.given = known
        return try layout.rewrite(old, changes)
    }

    /// The bytes of a new body, or of the frame's own if its key changes; nil if they stay as they are.
    private func encode(
        _ body: BodyContent?, of content: RawSpan, _ shape: FrameShape, _ changes: [Field], isRaw: Bool
    ) throws(EncodingError) -> [UInt8]? {
        let format = self.body(of: shape)
        let hasKeys = !format.keyFields.isEmpty && !changes.isEmpty
        guard body != nil || hasKeys && !isRaw else { return nil }
        let type = type(of: content, shape)
        let old = bodyHead(of: content, shape)
        // A receiver takes the key from the header that the frame will have.
        let new = hasKeys ? try changedHead(of: content, shape, changes, isRaw: isRaw) : old
        if let body { return try format.encode(body, type: type, head: new) }
        let own = content.extracting(shape.head..<shape.head + shape.body)
        return try format.masked(own, type: type, from: old, to: new)
    }

    /// What a body may need of a frame's header once fields are changed.
    private func changedHead(
        of content: RawSpan, _ shape: FrameShape, _ changes: [Field], isRaw: Bool
    ) throws(EncodingError) -> BodyHead {
        let layout = layouts[shape.layout]
        guard let head = layout.head else { return bodyHead(of: content, shape) }
        var bytes: [UInt8]
        if isRaw {
            var changes = changes
            bytes = try head.overwrite(content.copied(0..<shape.head), &changes)
        } else {
            let end = shape.head - layout.delimiterLength
            bytes = try head.edit(content.copied(0..<end), layout.inHead(changes), body: shape.body)
            bytes += content.copied(end..<shape.head)
        }
        var new = shape
        new.head = bytes.count
        bytes += content.copied(shape.head..<shape.total)
        return bodyHead(of: bytes.span.bytes, new)
    }

    /// The frame with bytes replaced where they are, and nothing else changed.
    private func overwrite(
        _ content: RawSpan, _ shape: FrameShape, _ changes: [Field], body: [UInt8]?
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        let end = shape.head + shape.body
        var (head, tail) = (content.copied(0..<shape.head), content.copied(end..<shape.total))
        let body = body ?? content.copied(shape.head..<end)
        var rest = changes
        if let own = layout.head { head = try own.overwrite(head, &rest) }
        if let own = layout.trailer { tail = try own.overwrite(tail, &rest) }
        if let change = rest.first { throw EncodingError("\(change.name) has no bytes of its own to overwrite") }
        var new = shape
        (new.head, new.body, new.tail) = (head.count, body.count, tail.count)
        let bytes = head + body + tail
        return rule.transforms ? try rewrap(bytes, new, like: content, shape) : bytes
    }
}

extension FrameLayout {
    /// The frame with other values, everything that follows from them recomputed; all else keeps its bytes.
    ///
    /// - Parameter old: the frame's parts with the new body, and its fields.
    fileprivate func rewrite(_ old: FrameParts, _ changes: [Field]) throws(EncodingError) -> [UInt8] {
        if let shown = (head as? StructuredHead)?.shown, changes.contains(where: { $0.name == shown.name }) {
            throw EncodingError("\(shown.name) holds state from earlier frames, and is not part of this one")
        }
        let inHead = inHead(changes)
        let (frame, read) = try verified(changes, changes) { changes throws(EncodingError) in
            var parts = old
            if let head { parts.head = try head.edit(old.head, inHead, body: old.body.count) } else { parts.head = [] }
            parts.trailer = try trailer?.edit(old.trailer, changes, body: old.body.count) ?? []
            parts.given.removeAll { known in changes.contains { $0.name == known.name } }
            parts.given += changes
            return try complete(parts)
        }
        for change in changes where isVerified(change.name) {
            guard let value = read.last(where: { $0.name == change.name })?.value,
                JSONValue(change.value).contradicts(JSONValue(value), change.name, stands)
            else { continue }
            let isConstant = headerFields.compactMap { $0.isConstant(change.name) }
            if !isConstant.isEmpty, isConstant.allSatisfy({ $0 }) {
                throw EncodingError("\(change.name) always has the same value; raw: true overwrites it")
            }
            let reason = "which follows from the rest of the frame; raw: true overwrites it"
            throw EncodingError(
                "\(change.name) would be \(value.shortDescription), \(reason)",
                withoutValues: "\(change.name) would be another value, \(reason)")
        }
        return frame
    }

    /// The changes that are not of the trailer alone.
    fileprivate func inHead(_ changes: [Field]) -> [Field] {
        let afterBody = Set(trailer?.names ?? []).subtracting(head?.names ?? [])
        return changes.filter { !afterBody.contains($0.name) }
    }

    /// How many bytes separate the head from the body, which belong to neither.
    fileprivate var delimiterLength: Int { (rule as? HeadAndBody)?.delimiter.count ?? 0 }

    /// The outermost fields of head and trailer.
    fileprivate var headerFields: [HeaderField] {
        ((head as? BinaryHead)?.fields ?? []) + ((head as? StructuredHead)?.structure.fields ?? [])
            + (trailer?.fields ?? [])
    }

    /// Whether a text stands for a value of a field or of named bits: it is the value's name, or is written in the same way. If no
    /// field is called so, as in a list of values, any may be meant.
    private func stands(_ text: String, for value: FieldValue, in name: String) -> Bool {
        var fields = ((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? [])
        for sequence in (head as? StructuredHead)?.structure.sequences ?? [] {
            for case .field(let field) in sequence.items.map(\.content) { fields.append(field) }
        }
        let own = fields.filter { field in field.name == name || field.bits.contains { $0.name == name } }
        return (own.isEmpty ? fields : own).contains { field in
            if field.names[value] == text { return true }
            if field.bits.contains(where: { $0.name == name && $0.names[value] == text }) { return true }
            guard let written = try? BinaryHead.encode(.text(text), as: field) else { return false }
            return (try? BinaryHead.encode(value, as: field)) == written
        }
    }
}

extension JSONValue {
    /// Whether a value that was asked for is certainly not this one. A name and its value, or bytes and their digits, may be the
    /// same.
    ///
    /// - Parameters:
    ///   - field: the name of the field, or of the member of an object.
    ///   - stands: whether a text stands for a value of a field.
    fileprivate func contradicts(
        _ read: JSONValue, _ field: String, _ stands: (String, FieldValue, String) -> Bool
    ) -> Bool {
        if case .text(let asked) = self, let found = read.scalar, stands(asked, found, field) { return false }
        switch (self, read) {
        case (.number(let asked), .number(let found)):
            if case .integer(let asked)? = scalar, case .integer(let found)? = read.scalar { return asked != found }
            // Numbers of four bytes are rounded.
            return asked != found && Float(asked) != Float(found)
        case (.text(let asked), .text(let found)):
            // Hex digits have either case, and padding is not part of a text.
            return asked.lowercased() != found.lowercased()
                && !(asked.hasPrefix(found) && Set(asked.utf8.dropFirst(found.utf8.count)).count == 1)
        case (.array(let asked), .array(let found)):
            return asked.count != found.count
                || zip(asked, found).contains { $0.contradicts($1, field, stands) }
        case (.object(let asked), .object):
            return asked.contains { member in
                read[member.name].map { member.value.contradicts($0, member.name, stands) } ?? false
            }
        default:
            guard let asked = plainText, let found = read.plainText else { return false }
            return asked != found
        }
    }
}

// MARK: Places

extension DirectionFormat {
    /// Where a field of the head or the trailer is in a frame's content; for a JSON head its value. Nil if the frame has none of
    /// that name that has bytes of its own: named bits have none.
    package func place(ofField name: String, in content: RawSpan, _ shape: FrameShape) -> Range<Int>? {
        let layout = layouts[shape.layout]
        if let place = layout.head?.place(ofField: name, in: content.extracting(0..<shape.head)) { return place }
        let tail = content.extracting(shape.head + shape.body..<shape.total)
        guard let place = layout.trailer?.place(ofField: name, in: tail) else { return nil }
        return place.lowerBound + shape.head + shape.body..<place.upperBound + shape.head + shape.body
    }

    /// Whether a field of the head or the trailer is binary: its bytes are not text, whatever they look like.
    package func isBinary(field name: String, in content: RawSpan, _ shape: FrameShape) -> Bool {
        headerFields(in: content, shape).first { $0.name == name }?.kind.isBinary ?? false
    }

    /// The fields of the head and the trailer that a format describes one by one.
    private func headerFields(in content: RawSpan, _ shape: FrameShape) -> [HeaderField] {
        let layout = layouts[shape.layout]
        let head = content.extracting(0..<shape.head)
        let fields = (layout.head as? StructuredHead)?.fields(in: head) ?? (layout.head as? BinaryHead)?.fields ?? []
        return fields + (layout.trailer?.fields ?? [])
    }

    /// Where named bits of a field are in a frame's content; empty if it has none of that name.
    package func places(ofBits name: String, in content: RawSpan, _ shape: FrameShape) -> [(byte: Int, bit: Int)] {
        for field in headerFields(in: content, shape) {
            guard let bits = field.bits.first(where: { $0.name == name }),
                let place = place(ofField: field.name, in: content, shape)
            else { continue }
            return bits.places(in: place, field.order)
        }
        return []
    }

    /// Where the checksums are in a frame's content.
    package func placesOfChecksums(in content: RawSpan, _ shape: FrameShape) -> [Range<Int>] {
        let layout = layouts[shape.layout]
        let fields = ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? [])
        let inHead = (layout.head as? StructuredHead)?.checksums(in: content.extracting(0..<shape.head)) ?? []
        return inHead.map(\.1)
            + fields.filter { $0.checksum != nil }.compactMap { place(ofField: $0.name, in: content, shape) }
    }

    /// A frame whose content was changed, which has the same form: what the rule adds is added, and nothing recomputed.
    ///
    /// - Parameters:
    ///   - shape: the parts of the new content.
    ///   - old: the content that it was.
    package func rewrap(
        _ content: [UInt8], _ shape: FrameShape, like old: RawSpan, _ oldShape: FrameShape
    ) throws(EncodingError) -> [UInt8] {
        let layout = layouts[shape.layout]
        if let structured = layout.rule as? Structured { return structured.rewrap(content, shape, like: old, oldShape) }
        let end = shape.head + shape.body
        var parts = FrameParts(
            head: layout.head == nil ? [] : Array(content[..<shape.head]), body: Array(content[shape.head..<end]),
            trailer: layout.trailer == nil ? [] : Array(content[end...]))
        parts.given = fields(of: old, oldShape)
        return try layout.rule.encode(parts)
    }
}
