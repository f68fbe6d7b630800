import Expressions
import Streams

/// A header of the rule `fields`: a structure, which may say how many bytes of body follow.
package struct StructuredHead: Head {
    /// The field with the header's bytes, where its fields alone do not say how it was written.
    package static let raw = "raw"

    /// The header's length, as expressions of the body's size name it.
    static let lengthPath = lengthGroups + [lengthName]
    static let lengthGroups = ["header"]
    static let lengthName = "length"

    let structure: Structure
    /// Where the body ends, by cases; without any, there is none.
    let bodies: [BodyExtent]
    /// A value of earlier frames that is shown as a field.
    var shown: Remembering.Shown?
    private let recent = RecentFields()

    init(structure: Structure, bodies: [BodyExtent], shown: Remembering.Shown? = nil) {
        (self.structure, self.bodies, self.shown) = (structure, bodies, shown)
    }

    package var names: [String]? {
        structure.names + (structure.mayHaveRest ? [StructureWalk.rest] : []) + [Self.raw]
            + (shown.map { [$0.name] } ?? [])
    }

    package func fields(of head: RawSpan) -> [Field] {
        guard let fields = knownFields(of: head) else { return [] }
        // What would be written differently is given as it came, too: "Name:value" without a space, 007.
        let written = try? StructureWriter.write(structure, fields, body: nil)
        if let written, head.elementsEqual(written.span.bytes) { return fields }
        return fields + [Field(Self.raw, .bytes(head.copied()))]
    }

    /// The fields without `raw`, maybe of the last time that they were read; nil if the bytes are no such header.
    private func knownFields(of head: RawSpan) -> [Field]? {
        if let known = recent.fields(of: head) { return known }
        guard let fields = plainFields(of: head) else { return nil }
        recent.keep(fields, of: head)
        return fields
    }

    /// The fields without `raw`; nil if the bytes are no such header.
    ///
    /// - Parameter whole: whether a header with more values than are collected counts as none.
    func plainFields(of head: RawSpan, whole: Bool = false) -> [Field]? {
        var walk = StructureWalk()
        var values = StructureValues()
        guard walk.go(structure, head, end: head.byteCount, &values) == .complete, !whole || !values.isCut else {
            return nil
        }
        return values.fields
    }

    /// The fields that a header begins with, whole or not.
    func begunFields(of head: RawSpan) -> [Field] {
        var walk = StructureWalk()
        var values = StructureValues()
        _ = walk.go(structure, head, end: nil, &values)
        return values.fields
    }

    package func field(_ name: String, of head: RawSpan) -> FieldValue? {
        if name == Self.raw { return fields(of: head).first { $0.name == name }?.value }
        guard let fields = knownFields(of: head) else { return nil }
        return fields.first { $0.name == name }?.value
            ?? fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    /// Whether a field is made of header lines.
    package func isLines(_ name: String) -> Bool {
        structure.sequences.contains { sequence in
            sequence.items.contains { if case .lines = $0.content { $0.name == name } else { false } }
        }
    }

    package func valueName(of name: String, _ value: FieldValue) -> String? {
        if let shown, shown.name == name { return shown.names[value] }
        for sequence in structure.sequences {
            for case .field(let field) in sequence.items.map(\.content) {
                if field.name == name, let found = field.names[value] { return found }
                if let bits = field.bits.first(where: { $0.name == name }), let found = bits.names[value] {
                    return found
                }
            }
        }
        return nil
    }

    package func encode(_ fields: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        let known = Set(structure.names + [StructureWalk.rest])
        let given = fields.filter { known.contains($0.name) }
        if let raw = fields.last(where: { $0.name == Self.raw })?.value.rawBytes,
            let read = plainFields(of: raw.span.bytes),
            Self.same(read, given), hasBody(body, after: raw.span.bytes)
        {
            return raw
        }
        return try write(given, body: body)
    }

    /// The header with these values whatever body follows: lengths that depend on it may differ. Nil if it cannot be written.
    func draft(_ fields: [Field]) -> [UInt8]? {
        let known = Set(structure.names + [StructureWalk.rest])
        let given = fields.filter { known.contains($0.name) }
        if let raw = fields.last(where: { $0.name == Self.raw })?.value.rawBytes,
            let read = plainFields(of: raw.span.bytes), Self.same(read, given)
        {
            return raw
        }
        return try? StructureWriter.write(structure, given, body: nil)
    }

    /// The header with these values, for a body of this size.
    ///
    /// - Parameter old: the header that is rewritten.
    func write(_ given: [Field], body: Int, like old: WrittenStructure? = nil) throws(EncodingError) -> [UInt8] {
        // The case that holds says which fields have the body's size; if it allows none, another one may.
        let sizes = bodies.compactMap { extent -> Expression? in
            if case .size(let size) = extent.kind, !size.paths.isEmpty { size } else { nil }
        }
        // How long the body is depends on frames that are not known here.
        if bodies.contains(where: \.recalls) {
            return try StructureWriter.write(structure, given, body: nil, like: old)
        }
        // A frame that is edited may have no body, and then needs no size.
        if let first = bodies.first, bodies.count == 1, old == nil || first.condition == nil,
            case .size(let size) = first.kind
        {
            return try StructureWriter.write(structure, given, body: (size, body), like: old)
        }
        let written = try StructureWriter.write(structure, given, body: nil, like: old)
        if hasBody(body, after: written.span.bytes) { return written }
        // An answer to HEAD has a length, and no body: whether it is one is not known here.
        let asks = bodies.contains { $0.condition?.paths.contains { $0.first == "request" } ?? false }
        if body == 0, asks { return written }
        for size in sizes {
            if let bytes = try? StructureWriter.write(structure, given, body: (size, body), like: old),
                hasBody(body, after: bytes.span.bytes)
            {
                return bytes
            }
        }
        throw EncodingError("a frame with these fields cannot have a body of \(body) bytes")
    }

    /// Whether a header is followed by a body of this size.
    func hasBody(_ count: Int, after head: RawSpan) -> Bool {
        guard let extent = extent(after: head) else { return count == 0 }
        if case .size(let size)? = extent.kind { return extent.scope.number(size) == count }
        return true
    }

    /// The case that holds after a header, and the header's values; nil if none does.
    private func extent(after head: RawSpan) -> (kind: BodyExtent.Kind?, scope: StructureScope)? {
        var walk = StructureWalk()
        var nothing = NoVisitor()
        guard walk.go(structure, head, end: head.byteCount, &nothing) == .complete else { return nil }
        walk.scope.addLength(head.byteCount)
        let scope = walk.scope
        return bodies.first { scope.holds($0.condition) }.map { ($0.kind, scope) }
    }

    /// Whether fields are the same as written in a trace.
    private static func same(_ one: [Field], _ other: [Field]) -> Bool {
        one.count == other.count && JSONValue.fields(one).compactText == JSONValue.fields(other).compactText
    }
}

extension StructuredHead {
    /// Whether outermost fields are checksums.
    var hasChecksums: Bool { !checkedFields.isEmpty }

    /// The outermost fields that are checksums.
    var checkedFields: [HeaderField] { structure.fields.filter { $0.checksum != nil } }

    /// The checksums of a header, and where they are.
    func checksums(in head: RawSpan) -> [(HeaderField, Range<Int>, FieldChecksum)] {
        guard hasChecksums else { return [] }
        return StructurePlaces.all(structure, in: head).compactMap { place in
            guard case .field(let field)? = place.item?.content, let checksum = field.checksum else { return nil }
            return (field, place.range, checksum)
        }
    }

    /// Whether a header may have all of these values.
    func takes(_ given: [Field], noted: [String]) -> Bool {
        let known = Set((names ?? []) + noted)
        guard given.allSatisfy({ known.contains($0.name) }) else { return false }
        // What is written must be read again as the same kind: its constants decide.
        let own = given.filter { !noted.contains($0.name) }
        guard let bytes = try? encode(own, body: 0) else { return false }
        let read = fields(of: bytes.span.bytes)
        return !read.isEmpty
            && own.allSatisfy { field in
                field.name == Self.raw || read.contains { $0.name == field.name && $0.value.isLike(field.value) }
                    || !read.contains { $0.name == field.name }
            }
    }
}

extension FieldValue {
    /// Whether a value given for a field may be this one: lengths and names are not compared.
    fileprivate func isLike(_ given: FieldValue) -> Bool {
        if case .text(let one) = self, case .text(let other) = given { return one == other }
        return true
    }
}
