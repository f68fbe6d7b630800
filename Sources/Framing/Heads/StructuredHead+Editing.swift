import Streams

extension StructuredHead {
    package func edit(_ head: [UInt8], _ changes: [Field], body: Int) throws(EncodingError) -> [UInt8] {
        let old = try raw(changes) ?? head
        var rest = changes.filter { $0.name != Self.raw }
        if rest.isEmpty, hasBody(body, after: old.span.bytes), plainFields(of: old.span.bytes) != nil { return old }
        // Of values that are not collected, the new header would have none.
        guard var fields = plainFields(of: old.span.bytes, whole: true) else {
            throw EncodingError("the header cannot be read, or has more than \(StructureValues.most) values")
        }
        func set(_ change: Field) {
            if let index = fields.firstIndex(where: { $0.name == change.name }) {
                fields[index] = change
            } else {
                fields.append(change)
            }
        }
        // Bits are set in their field, whose other bits remain.
        for field in structure.fields where !field.bits.isEmpty {
            guard let before = fields.first(where: { $0.name == field.name })?.value,
                let value = try field.value(before, changedBy: rest)
            else { continue }
            let names = Set([field.name] + field.bits.map(\.name))
            fields.removeAll { $0.name != field.name && names.contains($0.name) }
            rest.removeAll { names.contains($0.name) }
            set(Field(field.name, value))
        }
        for change in rest { set(change) }
        return try write(fields, body: body, like: WrittenStructure(structure, old.span.bytes))
    }

    package func overwrite(_ head: [UInt8], _ changes: inout [Field]) throws(EncodingError) -> [UInt8] {
        var bytes = try raw(changes) ?? head
        changes.removeAll { $0.name == Self.raw }
        let given = changes
        // From the end, so that places stay where they are.
        for place in StructurePlaces.all(structure, in: bytes.span.bytes).reversed() {
            if let new = try self.bytes(at: place, given, in: bytes) { bytes.replaceSubrange(place.range, with: new) }
            var names = [place.name]
            if case .field(let field)? = place.item?.content { names += field.bits.map(\.name) }
            changes.removeAll { names.contains($0.name) }
        }
        return bytes
    }

    package func place(ofField name: String, in head: RawSpan) -> Range<Int>? {
        StructurePlaces.all(structure, in: head).first { $0.name == name }?.range
    }

    /// The outermost fields that a header has, with the byte order that they have in it.
    func fields(in head: RawSpan) -> [HeaderField] {
        StructurePlaces.all(structure, in: head).compactMap {
            if case .field(let field)? = $0.item?.content { field } else { nil }
        }
    }

    /// The header that the field `raw` gives; nil if it is not given.
    private func raw(_ changes: [Field]) throws(EncodingError) -> [UInt8]? {
        guard let change = changes.last(where: { $0.name == Self.raw }) else { return nil }
        guard let bytes = change.value.rawBytes else {
            throw EncodingError.unfit(Self.raw, change.value, "expected bytes, as hex")
        }
        return bytes
    }

    /// What stands for the new value at a place; nil if it has none.
    private func bytes(
        at place: StructurePlaces.Place, _ changes: [Field], in head: [UInt8]
    ) throws(EncodingError) -> [UInt8]? {
        if case .field(let field)? = place.item?.content {
            let value = try field.value(place.value, changedBy: changes)
            return try value.map { value throws(EncodingError) in try BinaryHead.encode(value, as: field) }
        }
        guard let change = changes.last(where: { $0.name == place.name }) else { return nil }
        let value = JSONValue(change.value)
        let unfit = EncodingError(
            "\(place.name) cannot be \(change.value.shortDescription)",
            withoutValues: "\(place.name) cannot be this value")
        switch place.item?.content {
        case .sized(let kind):
            guard var bytes = kind.bytes(of: value) else { throw unfit }
            if let number = kind.number(change.value, width: place.range.count) { bytes = number }
            let missing = max(0, place.range.count - bytes.count)
            return bytes + (kind.padding.map { [UInt8](repeating: $0, count: missing) } ?? [])
        case .ended(let end):
            guard let bytes = (end.isText ? SizedValue.text(padding: nil) : .bytes).bytes(of: value) else {
                throw unfit
            }
            return bytes
        case .words(let line):
            return try line.words.first { $0.name == place.name }.map { word throws(EncodingError) in
                try line.text(of: word, change.value)
            }
        case .lines(let lines):
            guard case .object(let members) = value else { throw unfit }
            // The empty line after them remains.
            let old =
                Array(head[place.range]) + (lines.ends.first { head[place.range.upperBound...].starts(with: $0) } ?? [])
            let fields = members.map { Field($0.name, $0.value.field ?? .json($0.value.compactText)) }
            let end = WrittenStructure(structure, head.span.bytes).end(of: lines.ends) ?? []
            let new = try lines.rewrite(old, fields, end: end)
            return Array(new.dropLast(lines.ends.ending(new)?.count ?? 0))
        case .body(let chain): return try StructureWriter.body(value, chain)
        default: throw EncodingError("\(place.name) consists of several values; raw: true overwrites single ones")
        }
    }
}

extension SizedValue {
    /// A number of a given width; nil if it does not fit.
    fileprivate func number(_ value: FieldValue, width: Int) -> [UInt8]? {
        guard (1...8).contains(width) else { return nil }
        switch self {
        case .unsigned(let order):
            return try? BinaryHead.encode(value, as: HeaderField(name: "", kind: .unsigned(width: width), order: order))
        case .signed(let order):
            return try? BinaryHead.encode(value, as: HeaderField(name: "", kind: .signed(width: width), order: order))
        case .text, .bytes: return nil
        }
    }
}
