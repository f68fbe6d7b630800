import Expressions
import Streams

/// Fields one after the other of which some repeat, are optional, or end where others say: a header of the rule `fields`, or a
/// body of the encoding `fields`.
///
/// `StructureWalk` reads one, `StructureWriter` writes one.
struct Structure: Sendable {
    /// The sequences; the first is the outermost. An item names a sequence by its index, so that one may contain itself.
    var sequences: [Sequence] = []

    /// How deeply groups may nest.
    static let deepest = 32

    /// Items that follow one another.
    struct Sequence: Sendable {
        var items: [Item] = []
        /// If the sequence is the element of a list and has only one named item: its index. Then the element is shown as that
        /// item's value.
        var only: Int?
        /// The names of its items and their bits; nil while the structure is built.
        fileprivate(set) var own: Set<String>?
        /// The same with those of unnamed groups, in their order; nil while the structure is built.
        fileprivate(set) var known: [String]?
    }

    /// One item of a sequence. Copies share its parts, since a walk takes every item out of its sequence.
    @dynamicMemberLookup
    struct Item: Sendable {
        struct Parts: Sendable {
            /// Its name; empty if it is not shown: a literal.
            var name: String
            /// When it is there; nil: always.
            var condition: Expression?
            var content: Content
            /// How many bytes it has; nil if its content says so.
            var size: Size?
            /// The values that it may have; empty: all.
            var allowed: [AllowedValues] = []
            /// Whether an expression refers to its value.
            var isReferenced = false
            /// When its number is little-endian; nil: the field itself says so.
            var littleEndian: Expression?
        }

        private final class Shared: Sendable {
            let parts: Parts

            init(_ parts: Parts) { self.parts = parts }
        }

        private var shared: Shared

        init(name: String, condition: Expression? = nil, content: Content) {
            shared = Shared(Parts(name: name, condition: condition, content: content))
        }

        subscript<Part>(dynamicMember part: WritableKeyPath<Parts, Part>) -> Part {
            @inline(__always) get { shared.parts[keyPath: part] }
            set {
                var parts = shared.parts
                parts[keyPath: part] = newValue
                shared = Shared(parts)
            }
        }
    }

    /// What an item consists of.
    enum Content: Sendable {
        /// Always the same bytes.
        case literal([UInt8], ignoresCase: Bool)
        /// A field whose bytes alone determine its size.
        case field(HeaderField)
        /// A value of the item's `size`.
        case sized(SizedValue)
        /// Text or bytes up to the first of several ends.
        case ended(TextEnd)
        /// The words of a line.
        case words(WordLine)
        /// `name: value` lines up to an empty one.
        case lines(HeaderLines)
        /// No bytes: a value that follows from others.
        case computed(Expression)
        /// The items of a sequence, as an object.
        case group(Int)
        /// The items of a sequence several times, as a list.
        case repeated(Int, Iterations)
        /// The items of the first of several sequences whose first item fits, as an object.
        case choice([Int])
        /// A body of its own, decoded as the value: JSON in a payload.
        case body(BodyChain)
    }

    /// How many bytes an item has.
    enum Size: Sendable {
        /// This many.
        case count(Expression)
        /// As many as the number before it says.
        case prefix(HeaderField)
        /// All that are left of the enclosing item, or of the body.
        case rest
    }

    /// How often a sequence repeats.
    enum Iterations: Sendable {
        /// This often.
        case count(Expression)
        /// As often as the number before it says.
        case prefix(HeaderField)
        /// To the end of the enclosing item, or of the body.
        case rest
        /// Until these bytes follow, which belong to the item.
        case until([UInt8])
        /// Once, and again as long as the last values fulfil a condition.
        case again(Expression)
    }
}

/// A value whose bytes something else counts.
enum SizedValue: Sendable, Equatable {
    /// Text; `padding` at its end does not belong to it.
    case text(padding: UInt8?)
    case bytes
    /// A number of at most eight bytes.
    case unsigned(ByteOrder)
    case signed(ByteOrder)

    /// The value of bytes.
    func value(in bytes: RawSpan) -> FieldValue {
        let count = bytes.byteCount
        switch self {
        case .text(let padding):
            var end = count
            if let padding { while end > 0, bytes[byte: end - 1] == padding { end -= 1 } }
            return WordLine.text(bytes.extracting(0..<end))
        case .unsigned(let order) where (1...8).contains(count):
            let number = bytes.unsigned(at: 0, width: count, order)
            return FieldValue(number)
        case .signed(let order) where (1...8).contains(count):
            return HeaderField(name: "", kind: .signed(width: count), order: order).value(in: bytes, at: 0, size: count)
        case .bytes, .unsigned, .signed: return .bytes(bytes.copied())
        }
    }

    /// The bytes of a value; nil if it has none. A number takes as many as it needs.
    func bytes(of value: JSONValue) -> [UInt8]? {
        switch self {
        case .text: return value.plainText.map { Array($0.utf8) } ?? value.hexBytes
        case .bytes: return value.field?.rawBytes
        case .unsigned(let order), .signed(let order):
            guard case .number? = Optional(value), let number = value.field else { return value.field?.rawBytes }
            let isSigned = if case .signed = self { true } else { false }
            for width in 1...8 {
                let kind: HeaderField.Kind = isSigned ? .signed(width: width) : .unsigned(width: width)
                let field = HeaderField(name: "", kind: kind, order: order)
                if let bytes = try? BinaryHead.encode(number, as: field) { return bytes }
            }
            return nil
        }
    }

    var padding: UInt8? { if case .text(let padding) = self { padding } else { nil } }
    var isText: Bool { if case .text = self { true } else { false } }
    var isNumber: Bool {
        switch self {
        case .unsigned, .signed: true
        case .text, .bytes: false
        }
    }
}

/// What ends a text of unknown length.
struct TextEnd: Sendable {
    /// Longest first; they belong to the item.
    var ends: [[UInt8]]
    var isText: Bool
    /// The most bytes before the end.
    var most: Int
    /// Whether the text may be in double quotes, in which a backslash escapes.
    var mayBeQuoted = false
}

extension Structure.Item {
    /// Whether its value is of interest although it is not shown: others depend on it, or it is restricted.
    var isNeeded: Bool { self.isReferenced || !self.allowed.isEmpty }
}

extension Structure {
    /// The names of the outermost items and their bits, in order.
    var names: [String] { sequences.isEmpty ? [] : names(of: 0) }

    /// The names of the items of a sequence and their bits, those of unnamed groups included.
    func names(of sequence: Int) -> [String] {
        if let known = sequences[sequence].known { return known }
        var seen: Set<String> = []
        return items(of: sequence).flatMap(\.names).filter { seen.insert($0).inserted }
    }

    /// The names of the items of a sequence and their bits, without those of unnamed groups.
    func ownNames(of sequence: Int) -> Set<String> {
        sequences[sequence].own ?? Set(sequences[sequence].items.flatMap(\.names))
    }

    /// Keeps the names of all sequences, which writing asks for again and again: the structure is complete.
    mutating func keepNames() {
        for index in sequences.indices {
            sequences[index].own = ownNames(of: index)
            sequences[index].known = names(of: index)
        }
    }

    /// The items of a sequence, with those of unnamed groups in their place.
    func items(of sequence: Int) -> [Item] {
        var items: [Item] = []
        func add(_ sequence: Int, _ depth: Int) {
            guard depth < 4 else { return }
            for item in sequences[sequence].items {
                switch item.content {
                case .choice(let choices) where item.name.isEmpty: for choice in choices { add(choice, depth + 1) }
                case .group(let inner) where item.name.isEmpty: add(inner, depth + 1)
                default: items.append(item)
                }
            }
        }
        add(sequence, 0)
        return items
    }

    /// The outermost fields whose bytes alone determine their size, those of unnamed groups included.
    var fields: [HeaderField] {
        guard !sequences.isEmpty else { return [] }
        return items(of: 0).compactMap { if case .field(let field) = $0.content { field } else { nil } }
    }

    /// Whether an unnamed outermost item has a size, so that bytes may be left of it.
    var mayHaveRest: Bool { sequences.first?.items.contains { $0.name.isEmpty && $0.size != nil } ?? false }

    /// What ends the structure, longest first, if it is one line or text that may be any: then each of these ends one. Empty if it
    /// is anything else, which shows where it starts.
    var lineEnds: [[UInt8]] {
        guard let items = sequences.first?.items, let item = items.first, items.count == 1, item.condition == nil else {
            return []
        }
        switch item.content {
        case .words(let line) where line.words.allSatisfy({ $0.allowed.isEmpty }): return line.ends
        case .ended(let text) where item.allowed.isEmpty && !text.mayBeQuoted: return text.ends
        default: return []
        }
    }

    /// The bytes that the structure may start with.
    var firstBytes: ByteSet { sequences.isEmpty ? .all : firstBytes(of: 0, 0) }

    private func firstBytes(of sequence: Int, _ depth: Int) -> ByteSet {
        guard depth < 8, let item = sequences[sequence].items.first, item.condition == nil else { return .all }
        switch item.content {
        case .literal(let bytes, let ignoresCase):
            guard let first = bytes.first else { return .all }
            return ByteSet { $0 == first || ignoresCase && $0.lowercased == first.lowercased }
        case .field(let field): return BinaryHead([field]).firstBytes
        case .group(let inner) where item.size == nil: return firstBytes(of: inner, depth + 1)
        case .choice(let choices) where item.size == nil:
            return choices.reduce(into: ByteSet()) { $0.formUnion(firstBytes(of: $1, depth + 1)) }
        case .words(let line): return line.firstBytes
        default: return .all
        }
    }
}

extension UInt8 {
    /// The byte of the lower-case letter, for ASCII letters; otherwise the byte itself.
    var lowercased: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }

    /// Whether two bytes are the same, or the same letter.
    func equals(_ other: UInt8, ignoringCase ignoresCase: Bool) -> Bool {
        self == other || ignoresCase && lowercased == other.lowercased
    }
}
