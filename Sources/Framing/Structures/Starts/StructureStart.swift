import Streams

/// A quick check whether a structure may start with some bytes: no value is read, and nothing is allocated.
///
/// A search asks for nearly every place of a stream, and a walk costs a hundred times as much. What is ruled out, a `StructureWalk` calls
/// bad, given the same bytes: one that would wait for more must not be decided earlier here, since other kinds of frames may wait for it.
struct StructureStart: Sendable {
    private var checks: [any StartCheck] = []
    /// The first bytes of what may lie before it.
    private var padding: [UInt8] = []

    /// The check for a structure, as far as its first items need no values of others.
    ///
    /// - Parameter padding: the byte strings that may lie before it.
    init(of structure: Structure, padding: [[UInt8]] = []) {
        self.padding = padding.compactMap(\.first)
        if !structure.sequences.isEmpty { _ = add(0, of: structure, depth: 0) }
    }

    private init(first item: Structure.Item, of structure: Structure, depth: Int) {
        _ = add(item, of: structure, depth: depth)
    }

    /// Whether the structure may start at an index of the bytes.
    func mayFit(_ bytes: RawSpan, at start: Int) -> Bool {
        if !padding.isEmpty, padding.contains(bytes[byte: start]) { return true }
        var at = start
        for check in checks {
            switch check.judge(bytes, at) {
            case .fits(let next): at = next
            case .open: return true
            case .isOut: return false
            }
        }
        return true
    }

    // MARK: The checks of items

    /// Adds the checks of a sequence; false if what follows it cannot be checked.
    private mutating func add(_ sequence: Int, of structure: Structure, depth: Int) -> Bool {
        guard depth < Structure.deepest else { return false }
        for item in structure.sequences[sequence].items where !add(item, of: structure, depth: depth) { return false }
        return true
    }

    private mutating func add(_ item: Structure.Item, of structure: Structure, depth: Int) -> Bool {
        guard item.condition == nil, item.size == nil, item.littleEndian == nil else { return false }
        switch item.content {
        case .literal(let bytes, let ignoresCase): checks.append(LiteralCheck(bytes, ignoresCase: ignoresCase))
        case .field(let field):
            guard let check = Self.check(field, item.allowed) else { return false }
            checks.append(check)
        case .ended(let text):
            guard !text.mayBeQuoted else { return false }
            checks.append(EndedTextCheck(text, item.allowed))
        case .words(let line): checks.append(WordLineCheck(line))
        case .computed: return true
        case .group(let inner): return add(inner, of: structure, depth: depth + 1)
        case .choice(let sequences):
            let firsts = sequences.compactMap { structure.sequences[$0].items.first }
            if firsts.count == sequences.count, firsts.allSatisfy(\.decides) {
                let starts = firsts.map { StructureStart(first: $0, of: structure, depth: depth + 1) }
                checks.append(ChoiceCheck(starts))
            }
            return false
        case .sized, .body, .repeated, .lines: return false
        }
        return true
    }

    private static func check(_ field: HeaderField, _ allowed: [AllowedValues]) -> (any StartCheck)? {
        switch field.kind {
        case .unsigned, .signed:
            if let constant = field.constant {
                return (try? BinaryHead.encode(constant, as: field)).map { LiteralCheck($0, isField: true) }
            }
            return NumberCheck(field, allowed) ?? field.fixedSize.map { AnyBytesCheck(count: $0) }
        case .float, .string, .bytes, .numeral: return field.fixedSize.map { AnyBytesCheck(count: $0) }
        case .varint(let most): return VarintCheck(most: most)
        case .decimal: return nil
        }
    }
}
