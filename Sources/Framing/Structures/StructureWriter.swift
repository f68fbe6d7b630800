import Expressions
import Streams

/// Writes a structure: the inverse of `StructureWalk`.
///
/// Counts and sizes that other fields hold are set to what they count. Whatever else is not given is 0, empty or left out.
struct StructureWriter {
    let structure: Structure
    private var scope: StructureScope
    /// What is rewritten; nil: nothing.
    private let old: WrittenStructure?
    /// Where it is: the sequence, the item and the iteration of each level.
    private var path: [Int] = []

    /// The bytes of a structure with these values.
    ///
    /// - Parameters:
    ///   - fields: the outermost items' values.
    ///   - head: the values of the header, for a body.
    ///   - isBody: whether trailing items that are not given are left out.
    ///   - body: the expression of the body's size that the fields decide, and that size.
    ///   - old: the structure that is rewritten; what is the same keeps its bytes.
    static func write(
        _ structure: Structure, _ fields: [Field], head: [Field] = [], isBody: Bool = false,
        body: (size: Expression, count: Int)?, like old: WrittenStructure? = nil
    ) throws(EncodingError) -> [UInt8] {
        var writer = StructureWriter(structure: structure, scope: StructureScope(head), old: old)
        let members = StructureMembers(fields)
        if let body, body.size.paths.contains(StructuredHead.lengthPath) {
            // The header's length is the same whatever its length field says, unless that is of varying size: then it settles.
            for _ in 0..<3 {
                var trial = writer
                let bytes = try trial.write(0, members, body)
                writer.scope.addLength(bytes.count)
            }
        }
        return try writer.write(0, members, body, isSized: isBody)
    }

    // MARK: Sequences

    private mutating func write(
        _ sequence: Int, _ given: StructureMembers, _ body: (size: Expression, count: Int)? = nil,
        isSized: Bool = false, iteration: Int = 0
    ) throws(EncodingError) -> [UInt8] {
        path += [sequence, 0, iteration]
        defer { path.removeLast(3) }
        let items = structure.sequences[sequence].items
        let known = structure.names(of: sequence)
        if let other = given.names.first(where: { !known.contains($0) && $0 != StructureWalk.rest }) {
            let hint = known.isEmpty ? "there are none" : LoadContext.hint(other, known)
            throw EncodingError("there is no field \(other); \(hint)")
        }
        var members = given
        let counted = try counted(items, members)
        for (size, count) in counted.sizes + [body].compactMap({ $0 }) {
            let sizes = StructureSizes(structure: structure, items: items, scope: scope)
            sizes.set(size, to: count, &members)
            if let value = sizes.value(of: size, members), value != count {
                let reason = "no field can say that"
                throw EncodingError(
                    "\(size) is \(value), and \(count) is needed: \(reason)",
                    withoutValues: "\(size) is another number than is needed: \(reason)")
            }
        }
        var bytes: [UInt8] = []
        let written = isSized ? structure.given(items, in: members) : items[...]
        for (index, item) in written.enumerated() where scope.holds(item.condition) {
            path[path.count - 2] = index
            if let piece = counted.pieces[index] {
                bytes += piece.bytes
                if item.name.isEmpty { scope = piece.scope }
            } else {
                bytes += try write(item, members)
            }
        }
        let holdsRest = items.contains { $0.name.isEmpty && $0.size != nil }
        if let rest = given[StructureWalk.rest], !known.contains(StructureWalk.rest), !holdsRest {
            bytes += try Self.raw(rest, "rest")
        }
        return bytes
    }

    /// What the sizes and counts of items must be, and what had to be written to know that: writing it again, at each level anew,
    /// would take a time that doubles with each level.
    private func counted(
        _ items: [Structure.Item], _ members: StructureMembers
    ) throws(EncodingError) -> (
        sizes: [(size: Expression, count: Int)], pieces: [Int: (bytes: [UInt8], scope: StructureScope)]
    ) {
        var sizes: [(size: Expression, count: Int)] = []
        var pieces: [Int: (bytes: [UInt8], scope: StructureScope)] = [:]
        let known = StructureSizes(structure: structure, items: items, scope: scope)
        // Several items may have one name: only the one that is there has the value.
        for (index, item) in items.enumerated() where item.condition == nil || known.isPresent(item, members) {
            guard let value = item.name.isEmpty ? .object([]) : members[item.name], value != .null else { continue }
            if case .repeated(_, .count(let count)) = item.content, case .array(let elements) = value {
                sizes.append((count, elements.count))
            }
            guard case .count(let size)? = item.size else { continue }
            var inside = self
            inside.path[path.count - 2] = index
            switch item.content {
            case .sized(let kind):
                let count = try inside.bytes(value, kind, item).count
                if kind.padding == nil { sizes.append((size, count)) }
            case .group, .repeated, .choice, .body:
                // What is inside may depend on the values beside it.
                inside.scope = known.values(members)
                let bytes = try inside.content(item, members)
                sizes.append((size, bytes.count))
                pieces[index] = (bytes, inside.scope)
            default: continue
            }
        }
        return (sizes, pieces)
    }

    // MARK: Items

    private mutating func write(_ item: Structure.Item, _ members: StructureMembers) throws(EncodingError) -> [UInt8] {
        let value = members[item.name]
        switch item.size {
        case .prefix(let field):
            if value == .null {
                scope.add(item.name, .absent)
                return kept(try BinaryHead.encode(.integer(-1), as: field), as: field)
            }
            let bytes = try content(item, members)
            return kept(try BinaryHead.encode(.integer(Int64(bytes.count)), as: field), as: field) + bytes
        case .count(let size):
            let wanted = scope.number(size)
            var bytes = try content(item, members)
            guard let wanted, wanted != bytes.count else { return bytes }
            if case .sized(.text(let padding?)) = item.content, bytes.count < wanted, wanted <= Structured.longest {
                return bytes + [UInt8](repeating: padding, count: wanted - bytes.count)
            }
            if value == nil, bytes.isEmpty, (0...Structured.longest).contains(wanted) {
                bytes = [UInt8](repeating: 0, count: wanted)
                return bytes
            }
            throw EncodingError("\(item.name) has \(bytes.count) bytes, and its size is \(wanted)")
        case .rest, nil: return try content(item, members)
        }
    }

    /// An item without its size.
    private mutating func content(
        _ item: Structure.Item, _ members: StructureMembers
    ) throws(EncodingError) -> [UInt8] {
        let value = members[item.name]
        switch item.content {
        // Perhaps in the other case.
        case .literal(let bytes, _): return old?[path] ?? bytes
        case .field(let field): return try number(field, item, members)
        case .computed(let expression):
            scope.add(item.name, expression.value(scope))
            return []
        case .sized(let kind):
            let bytes = try bytes(value, kind, item)
            scope.add(item.name, Value(kind.value(in: bytes.span.bytes)))
            return bytes
        case .ended(let end):
            let bytes = try bytes(value, end.isText ? .text(padding: nil) : .bytes, item)
            scope.add(item.name, Value(WordLine.text(bytes.span.bytes)))
            return bytes + self.end(end.ends)
        case .words(let line):
            let end = end(line.ends)
            let bytes = try line.write(like: old?[path]?.dropLast(end.count)) { members[$0].flatMap { $0.field } }
            for word in line.words { if let value = members[word.name]?.field { scope.add(word.name, Value(value)) } }
            return bytes + end
        case .lines(let lines):
            guard case .object(let given)? = value ?? .object([]) else {
                throw EncodingError("\(item.name) should be an object of header lines")
            }
            for line in given {
                if let field = line.value.field { scope.add(line.name.lowercased(), Value(field), in: [item.name]) }
            }
            let fields = given.map { Field($0.name, $0.value.field ?? .json($0.value.compactText)) }
            let end = end(lines.ends)
            guard let old = old?[path] else { return try lines.write(fields, end: end) }
            return try lines.rewrite(old, fields, end: end)
        case .body(let chain):
            if let old = oldContent(item), JSONValue(StructureWalk.value(old.span.bytes, chain)) == value { return old }
            return try Self.body(value, chain)
        case .group(let sequence): return try inner(sequence, item, members)
        case .choice(let sequences):
            let inside = item.name.isEmpty ? members : StructureMembers(value)
            let sequence = choose(sequences, inside)
            return try inner(sequence, item, members)
        case .repeated(let sequence, let iterations): return try list(sequence, iterations, item, value)
        }
    }

    private mutating func inner(
        _ sequence: Int, _ item: Structure.Item, _ members: StructureMembers
    ) throws(EncodingError) -> [UInt8] {
        guard item.name.isEmpty else {
            return try write(sequence, StructureMembers(members[item.name]), isSized: item.size != nil)
        }
        // Its values are among those around it.
        let rest = item.size == nil ? [] : [StructureWalk.rest]
        return try write(sequence, members.only(structure.names(of: sequence) + rest), isSized: item.size != nil)
    }

    private mutating func list(
        _ sequence: Int, _ iterations: Structure.Iterations, _ item: Structure.Item, _ value: JSONValue?
    ) throws(EncodingError) -> [UInt8] {
        var bytes: [UInt8] = []
        if case .prefix(let field) = iterations {
            var count = value == .null ? -1 : 0
            if case .array(let elements)? = value { count = elements.count }
            var size: HeaderField?
            if case .prefix(let field)? = item.size { size = field }
            bytes = kept(try BinaryHead.encode(.integer(Int64(count)), as: field), as: field, after: size)
            if value == .null { return bytes }
        }
        let known = scope.count
        if case .array(let elements)? = value {
            for (index, element) in elements.enumerated() {
                var members = StructureMembers(element)
                if let only = structure.sequences[sequence].only {
                    members = StructureMembers(.members([(structure.sequences[sequence].items[only].name, element)]))
                }
                // An element whose rest did not fit, or the last before the end, has no more than was given.
                var isCut = members[StructureWalk.rest] != nil
                if case .rest = iterations, index == elements.count - 1 { isCut = true }
                bytes += try write(sequence, members, isSized: isCut, iteration: index + 1)
                scope.shorten(to: known)
            }
        } else if let value, value != .null {
            throw EncodingError("\(item.name) should be a list")
        }
        if case .until(let mark) = iterations { bytes += mark }
        return bytes
    }

    /// The alternative that has most of the given names, and whose constants they do not contradict.
    private func choose(_ sequences: [Int], _ given: StructureMembers) -> Int {
        var best = (sequence: sequences.first ?? 0, fit: Int.min)
        for sequence in sequences {
            // Names that were given count most, then those that were not.
            let names = structure.ownNames(of: sequence)
            let fit = 1_000 * given.names.count { names.contains($0) } - names.count
            let isContradicted = structure.sequences[sequence].items.contains { $0.contradicts(given) }
            if !isContradicted, fit > best.fit { best = (sequence, fit) }
        }
        return best.sequence
    }

    // MARK: Values

    private mutating func number(
        _ field: HeaderField, _ item: Structure.Item, _ members: StructureMembers
    ) throws(EncodingError) -> [UInt8] {
        var own = field
        if let flag = item.littleEndian { own.order = flag.evaluate(scope) ? .little : .big }
        let given = members.fields(named: [field.name] + field.bits.map(\.name))
        let bytes = kept(try BinaryHead([own]).encode(given, body: 0), as: own)
        let value = own.value(in: bytes.span.bytes, at: 0, size: bytes.count)
        scope.add(field.name, Value(value))
        if let number = value.bitPattern {
            for bits in field.bits { scope.add(bits.name, .integer(bits.value(in: number))) }
        }
        return bytes
    }

    private func bytes(
        _ value: JSONValue?, _ kind: SizedValue, _ item: Structure.Item
    ) throws(EncodingError) -> [UInt8] {
        guard let value, value != .null else { return [] }
        guard let bytes = kind.bytes(of: value) else {
            throw EncodingError("\(item.name) should be \(kind.isText ? "text" : "bytes, as pairs of hex digits")")
        }
        // A number keeps its width.
        if kind.isNumber, let old = oldContent(item), kind.value(in: old.span.bytes) == kind.value(in: bytes.span.bytes)
        {
            return old
        }
        return bytes
    }

    private static func raw(_ value: JSONValue, _ name: String) throws(EncodingError) -> [UInt8] {
        guard let bytes = value.field?.rawBytes else {
            throw EncodingError("\(name) should be bytes, as pairs of hex digits")
        }
        return bytes
    }

    static func body(_ value: JSONValue?, _ chain: BodyChain) throws(EncodingError) -> [UInt8] {
        guard let value else { return [] }
        if chain.isOpaque { return try raw(value, "the body") }
        if case .text(let text) = value {
            if chain.showsBytes, let bytes = value.field?.rawBytes { return try chain.encode(.bytes(bytes), type: nil) }
            if !chain.readsJSON { return try chain.encode(.text(text), type: nil) }
        }
        return try chain.encode(.json(Array(value.compactText.utf8)), type: nil)
    }
}

extension StructureWriter {
    // MARK: What is rewritten

    /// The bytes that a number had, if they stand for the same number.
    ///
    /// - Parameter size: a number before it.
    private func kept(_ bytes: [UInt8], as field: HeaderField, after size: HeaderField? = nil) -> [UInt8] {
        guard let piece = old?[path] else { return bytes }
        let span = piece.span.bytes
        guard let start = size.map({ Self.size(of: $0, in: span, at: 0) }) ?? 0,
            let count = Self.size(of: field, in: span, at: start)
        else { return bytes }
        let value = field.value(in: span, at: start, size: count)
        guard (try? BinaryHead.encode(value, as: field)) == bytes else { return bytes }
        return Array(piece[start..<start + count])
    }

    /// The bytes that an item had, without the size before it.
    private func oldContent(_ item: Structure.Item) -> [UInt8]? {
        guard let piece = old?[path], case .prefix(let field)? = item.size else { return old?[path] }
        return Self.size(of: field, in: piece.span.bytes, at: 0).map { Array(piece[$0...]) }
    }

    /// How many bytes a number has; nil if not all of them are there.
    private static func size(of field: HeaderField, in bytes: RawSpan, at start: Int) -> Int? {
        guard let size = (try? field.size(in: bytes, at: start)) ?? nil, start + size <= bytes.byteCount else {
            return nil
        }
        return size
    }

    /// The end of a text or a line: the one that it had, otherwise one that others have.
    private func end(_ ends: [[UInt8]]) -> [UInt8] {
        old?[path].flatMap(ends.ending) ?? old?.end(of: ends) ?? ends.first ?? []
    }
}

extension Structure {
    /// The items up to the last one of which a value was given; all if it is the last that has any: an item with a size may end
    /// before its last fields.
    fileprivate func given(_ items: [Item], in members: StructureMembers) -> ArraySlice<Item> {
        func names(_ item: Item) -> [String] {
            switch item.content {
            case .group(let inner) where item.name.isEmpty: self.names(of: inner)
            case .choice(let choices) where item.name.isEmpty: choices.flatMap { self.names(of: $0) }
            default: item.names
            }
        }
        let given = Set(members.names)
        let last = items.lastIndex { names($0).contains(where: given.contains) } ?? -1
        let hasMore = items[(last + 1)...].contains { !names($0).isEmpty && $0.condition == nil }
        return hasMore ? items[0..<(last + 1)] : items[...]
    }
}

extension Structure.Item {
    /// The names of its values.
    var names: [String] {
        switch self.content {
        case .field(let field): [self.name] + field.bits.map(\.name)
        case .words(let line): line.words.map(\.name)
        default: self.name.isEmpty ? [] : [self.name]
        }
    }

    /// Whether given values are none that its constants allow.
    fileprivate func contradicts(_ given: StructureMembers) -> Bool {
        switch self.content {
        case .field(let field):
            guard let value = given.fields(named: [field.name]).first?.value.unnamed(field.names) else { return false }
            return field.mismatch(value) != nil || !self.allowed.allow(value)
        case .words(let line):
            return line.words.contains { word in
                guard !word.allowed.isEmpty, let text = given[word.name]?.plainText else { return false }
                return !word.allowed.contains { $0 == text || line.ignoresCase && $0.lowercased() == text.lowercased() }
            }
        default: return false
        }
    }
}

extension BodyChain {
    /// Whether a value of the chain is bytes, in hex, if it is not JSON: it is no text, or its key is unknown.
    fileprivate var showsBytes: Bool {
        encodings.contains { $0.role.contains(.locked) } || !(encodings.last is TextBody) && !readsJSON
    }

    /// Whether a value of the chain is JSON rather than text.
    fileprivate var readsJSON: Bool {
        encodings.last.map { $0 is JSONBody || $0 is ProtobufBody || $0 is FieldsBody } ?? false
    }
}
