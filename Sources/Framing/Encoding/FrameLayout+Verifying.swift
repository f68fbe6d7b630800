import Streams

/// Frames that were built are read again: a space in a word, or a line end in a header line, would make other fields of them.
extension FrameLayout {
    /// The bytes of a frame with these fields and this body, which are read as they were given.
    ///
    /// - Parameters:
    ///   - fields: all fields.
    ///   - given: those of them that somebody gave, who wants to know if they are read as other values. What follows from others
    ///     (lengths, checksums, padding, constants) is not compared.
    func write(_ fields: [Field], body: [UInt8], verifying given: [Field]) throws(EncodingError) -> [UInt8] {
        try verified(fields, given) { fields throws(EncodingError) in try build(fields, body: body) }.frame
    }

    /// A frame, and the parts that it was built of.
    typealias Built = (frame: [UInt8], parts: FrameParts)

    /// A frame that is read as it was given, and the fields that are read.
    ///
    /// - Parameter build: builds a frame of fields.
    func verified(
        _ fields: [Field], _ given: [Field], _ build: ([Field]) throws(EncodingError) -> Built
    ) throws(EncodingError) -> (frame: [UInt8], read: [Field]) {
        let (frame, parts) = try build(fields)
        if frame.isEmpty { return (frame, []) }
        let reading = read(frame, parts)
        // A JSON head is JSON, whatever its values are.
        for field in given where !(head is JSONHead) && isVerified(field.name) {
            guard let read = reading.fields.last(where: { $0.name == field.name })?.value else {
                if reading.fault != nil || field.value == .null { continue }
                throw EncodingError("the frame would have no \(field.name): its other values rule that out")
            }
            if !isEquivalent(field, read, in: fields, frame, build) {
                throw EncodingError(
                    "\(field.name) would be read as \(read.shortDescription), not as \(field.value.shortDescription)",
                    withoutValues: "\(field.name) would be read as another value")
            }
        }
        if let fault = reading.fault {
            let text = "the frame would not be read as it is written"
            throw EncodingError("\(text): \(fault)", withoutValues: text)
        }
        return (frame, reading.fields)
    }

    /// The frame of these fields and this body, and its parts.
    private func build(_ fields: [Field], body: [UInt8]) throws(EncodingError) -> Built {
        var parts = FrameParts(
            head: try head?.encode(fields, body: body.count) ?? [], body: body,
            trailer: try trailer?.encode(fields, body: body.count) ?? [])
        parts.given = fields
        return try complete(parts)
    }

    /// The frame of these parts, with lengths and checksums filled in.
    func complete(_ parts: FrameParts) throws(EncodingError) -> Built {
        var parts = parts
        try rule.fillIn(&parts)
        try fillInChecksums(&parts)
        return (try rule.encode(parts), parts)
    }

    /// Whether a field has a value of its own: others say how a frame was written.
    func isVerified(_ name: String) -> Bool {
        if rule.noted.contains(name) { return false }
        return !(head is StructuredHead) || name != StructuredHead.raw
    }

    // MARK: Reading

    /// What a frame is read as.
    private struct Reading {
        var fields: [Field]
        /// Why that is another frame; nil if it is not.
        var fault: String?
    }

    private func read(_ frame: [UInt8], _ parts: FrameParts) -> Reading {
        let bytes = frame.span.bytes
        var memory = ScanMemory()
        let fault: String
        switch rule.scan(bytes, from: 0, origin: 0, ended: true, memory: &memory) {
        case .shape(let shape) where shape.total == frame.count:
            guard let content = rule.content(of: bytes, shape) else { return read(bytes, shape, parts) }
            return read(content.bytes.span.bytes, content.shape, parts)
        case .shape(let shape):
            if endsElsewhere, shape.head == parts.head.count { return Reading(fields: headFields(parts)) }
            fault =
                shape.total < frame.count
                ? "it would end after \(shape.total) of its \(frame.count) bytes"
                : "it would have \(shape.total) bytes, and there are \(frame.count)"
        case .incomplete:
            if endsElsewhere { return Reading(fields: headFields(parts)) }
            fault = "it would not end after its \(frame.count) bytes"
        case .padding(let count): fault = "\(count) bytes would be padding between frames"
        case .bad(let bad):
            if endsElsewhere, bad.reason == .badLength { return Reading(fields: headFields(parts)) }
            fault = bad.detail(without: 0)
        }
        return Reading(fields: begunFields(parts), fault: fault)
    }

    private func read(_ content: RawSpan, _ shape: FrameShape, _ parts: FrameParts) -> Reading {
        let body = shape.head..<shape.head + shape.body
        var fields = head?.fields(of: content.extracting(0..<body.lowerBound)) ?? []
        fields += trailer?.fields(of: content.extracting(body.upperBound..<shape.total)) ?? []
        let isSame = content.extracting(body).elementsEqual(parts.body.span.bytes)
        return Reading(
            fields: fields,
            fault: isSame ? nil : "its body would have \(body.count) bytes, not these \(parts.body.count)")
    }

    /// Whether frames that are not known here say where the frame ends.
    private var endsElsewhere: Bool {
        !rule.requestPaths.isEmpty || (rule as? Structured)?.bodies.contains(where: \.recalls) ?? false
    }

    private func headFields(_ parts: FrameParts) -> [Field] { head?.fields(of: parts.head.span.bytes) ?? [] }

    /// The fields of a frame as far as it can be read.
    private func begunFields(_ parts: FrameParts) -> [Field] {
        guard let head = head as? StructuredHead else { return headFields(parts) }
        return head.begunFields(of: (parts.head + parts.body).span.bytes)
    }

    // MARK: Comparison

    /// Whether a value that was read stands for the one that was given: given in its place, it is written in the same way. So are
    /// names and their numbers, and text with and without its padding.
    private func isEquivalent(
        _ given: Field, _ read: FieldValue, in fields: [Field], _ frame: [UInt8],
        _ build: ([Field]) throws(EncodingError) -> Built
    ) -> Bool {
        if given.value == read { return true }
        var values = [read]
        if case .json = given.value {
            guard let variants = JSONValue(given.value).variants(with: JSONValue(read)) else { return false }
            values = variants.map { $0.field ?? read }
        }
        return values.allSatisfy { value in
            let others = fields.map { $0.name == given.name ? Field(given.name, value) : $0 }
            guard let again = try? build(others) else { return false }
            return again.frame == frame
        }
    }
}

extension JSONValue {
    /// At most this many differences in a value are compared: each takes as long as building the frame.
    private static let mostVariants = 64

    /// This value with what was read in place of one part of it, for each part that differs; nil if a list has other elements, or
    /// if there are more differences than are compared.
    fileprivate func variants(with read: JSONValue) -> [JSONValue]? {
        if isWritten(as: read) { return [] }
        var variants: [JSONValue] = []
        switch (self, read) {
        case (.array(let own), .array(let read)):
            guard own.count == read.count else { return nil }
            for index in own.indices {
                guard let inner = own[index].variants(with: read[index]),
                    variants.count + inner.count <= Self.mostVariants
                else { return nil }
                for value in inner {
                    var values = own
                    values[index] = value
                    variants.append(.array(values))
                }
            }
        case (.object(let own), .object(let read)):
            let found = Dictionary(read.map { ($0.name, $0.value) }) { $1 }
            for index in own.indices {
                // Nil stands for the object without the member.
                var inner: [JSONValue?] = [nil]
                if let value = found[own[index].name] {
                    guard let values = own[index].value.variants(with: value) else { return nil }
                    inner = values
                }
                guard variants.count + inner.count <= Self.mostVariants else { return nil }
                for value in inner {
                    var members = own
                    if let value { members[index].value = value } else { members.remove(at: index) }
                    variants.append(.object(members))
                }
            }
        default: variants = [read]
        }
        return variants
    }

    /// Whether both are the same, or the same text: a header line is text, and may be given as a number.
    private func isWritten(as other: JSONValue) -> Bool {
        guard let own = plainText, let text = other.plainText else { return self == other }
        return own.hasBytes(of: text)
    }
}
