import Framing
import Streams
import Trace

/// The compared content of both traces' frames, as numbers: equal contents have equal numbers.
struct ContentTable {
    /// A value and its path; both are numbers of the table.
    struct Leaf: Hashable {
        private let numbers: (path: UInt32, value: UInt32)
        var path: Int { Int(numbers.path) }
        var value: Int { Int(numbers.value) }

        init(path: Int, value: Int) { numbers = (UInt32(path), UInt32(value)) }

        static func == (left: Leaf, right: Leaf) -> Bool { left.numbers == right.numbers }

        /// Both as one number.
        var joined: UInt64 { UInt64(numbers.path) << 32 | UInt64(numbers.value) }

        func hash(into hasher: inout Hasher) { hasher.combine(joined) }
    }

    /// A value of a binding.
    struct Bound {
        var path: Int
        var binding: Int
        var value: JSONValue
        /// Whether it is at the binding's first place.
        var isFirst: Bool
    }

    /// An item, as it is compared.
    struct Entry {
        private let numbers: (content: UInt32, kind: UInt32)
        let from: Direction
        let bound: [Bound]
        /// The number of its compared content.
        var content: Int { Int(numbers.content) }
        /// The number of its direction and type.
        var kind: Int { Int(numbers.kind) }

        init(from: Direction, content: Int, kind: Int, bound: [Bound]) {
            numbers = (UInt32(content), UInt32(kind))
            (self.from, self.bound) = (from, bound)
        }
    }

    /// The compared content of an item.
    private struct Content {
        var from: Direction
        /// Its values among those of all contents.
        var leaves: Range<Int>
    }

    private struct Kind: Hashable {
        var from: Direction
        var type: String?
        var isFrame: Bool
    }

    /// Represents a masked value.
    static let masked = 0

    private(set) var paths: PathTable
    /// How much of the entered content is masked.
    var share = MaskedShare()
    private(set) var values: [JSONValue] = []
    private var valueNumbers = NumberIndex()
    private var contents: [Content] = []
    private var contentNumbers = NumberIndex()
    private var leaves: [Leaf] = []
    private var kinds: [Kind: Int] = [:]
    private let unordered: [TraceRules.Frames]
    /// The kinds of frames whose order does not matter.
    private var unorderedKinds: Set<Int> = []
    /// What was entered for frames that say the same.
    var entered = EnteredFrames()

    init(_ rules: TraceRules) {
        paths = PathTable(rules)
        unordered = rules.unordered
        _ = number(.text("«any»"))
    }

    /// The compared values of a content by path, sorted by the paths' numbers.
    func leaves(of content: Int) -> ArraySlice<Leaf> { leaves[contents[content].leaves] }

    // MARK: Entering

    /// Enters an item.
    mutating func enter(_ item: RecordedItem) -> Entry {
        var reading = Reading(kind: 0, from: item.from, type: nil)
        switch item {
        case .frame(let frame):
            reading.type = frame.type
            reading.kind = kind(frame.from, frame.type, isFrame: true)
            add(frame.type.map(JSONValue.text) ?? .null, at: "type", &reading)
            // The absence of fields is not a value.
            if frame.fields != .object([]) { add(frame.fields, at: "fields", &reading) }
            add(body: frame.body, &reading)
        case .unframed(let run):
            reading.kind = kind(run.from, "unframed", isFrame: false)
            let path = path(PathTable.root, "unframed")
            add(.text(run.reason), at: self.path(path, "reason"), &reading)
            add(.text(run.hex), at: self.path(path, "hex"), &reading)
        case .missing(let run):
            reading.kind = kind(run.from, "missing", isFrame: false)
            add(.number(String(run.length)), at: path(path(PathTable.root, "missing"), "length"), &reading)
        }
        share.frames += 1
        if reading.isMasked { share.maskedFrames += 1 }
        var leaves = reading.leaves
        if zip(leaves, leaves.dropFirst()).contains(where: { $0.path >= $1.path }) { leaves.sort { $0.path < $1.path } }
        let content = number(of: leaves, from: item.from)
        return Entry(from: item.from, content: content, kind: reading.kind, bound: reading.bound)
    }

    private struct Reading {
        var kind: Int
        var from: Direction
        var type: String?
        var leaves: [Leaf] = []
        var bound: [Bound] = []
        var isMasked = false
    }

    private mutating func path(_ parent: Int, _ name: String) -> Int { paths.path(from: parent, .member(name)) }

    mutating func kind(_ from: Direction, _ type: String?, isFrame: Bool) -> Int {
        let kind = Kind(from: from, type: type, isFrame: isFrame)
        if let known = kinds[kind] { return known }
        let number = kinds.count
        kinds[kind] = number
        if isFrame, unordered.contains(where: { $0.covers(from, type) }) { unorderedKinds.insert(number) }
        return number
    }

    /// Whether any frames were entered whose order does not matter.
    var hasUnordered: Bool { !unorderedKinds.isEmpty }

    /// Whether the order of a frame does not matter.
    func isUnordered(_ entry: Entry) -> Bool { unorderedKinds.contains(entry.kind) }

    private mutating func number(of new: [Leaf], from: Direction) -> Int {
        var hasher = Hasher()
        hasher.combine(from)
        hasher.combine(new)
        let hash = hasher.finalize()
        let known = contentNumbers.find(hash) { number in
            contents[number].from == from && leaves(of: number).elementsEqual(new)
        }
        if let known { return known }
        let start = leaves.count
        leaves += new
        contents.append(Content(from: from, leaves: start..<leaves.count))
        return contentNumbers.insert(hash)
    }

    private mutating func number(_ value: JSONValue) -> Int {
        let hash = value.hashValue
        if let known = valueNumbers.find(hash, where: { values[$0] == value }) { return known }
        values.append(value)
        return valueNumbers.insert(hash)
    }

    /// The true length is compared only if part of the body is missing: otherwise a mask over the body would be useless.
    private mutating func add(body: JSONValue, _ reading: inout Reading) {
        guard case .object(let members) = body else { return }
        let path = path(PathTable.root, "body")
        if case .masked = verdict(path, reading) {
            share.mask(body.characterCount, &reading.isMasked)
            return mask(path, &reading)
        }
        let isWhole = body["truncated"] == nil && members.contains { FieldPath.contents.contains($0.name) }
        for member in members where member.name != "length" || !isWhole {
            if member.name == "truncated" { continue }
            add(member.value, at: self.path(path, member.name), &reading)
        }
    }

    private mutating func add(_ value: JSONValue, at name: String, _ reading: inout Reading) {
        add(value, at: path(PathTable.root, name), &reading)
    }

    private mutating func verdict(_ path: Int, _ reading: Reading) -> PathTable.Verdict {
        paths.verdict(on: path, kind: reading.kind, from: reading.from, type: reading.type)
    }

    private mutating func mask(_ path: Int, _ reading: inout Reading) {
        reading.leaves.append(Leaf(path: path, value: Self.masked))
    }

    private mutating func add(_ value: JSONValue, at path: Int, _ reading: inout Reading) {
        var value = value
        switch verdict(path, reading) {
        case .ignored: return share.mask(value.characterCount, &reading.isMasked)
        case .masked:
            share.mask(value.characterCount, &reading.isMasked)
            return mask(path, &reading)
        case .bound(let binding, let isFirst, let form):
            // A value that does not match the template does not belong to the binding.
            if form.hasTemplates, let text = value.maskable, form.masking(text) == nil { break }
            share.mask(value.characterCount, &reading.isMasked)
            reading.bound.append(
                Bound(path: path, binding: binding, value: value.normalized, isFirst: isFirst))
            return mask(path, &reading)
        case .partlyMasked(let form):
            if let text = value.maskable, let masked = form.masking(text) {
                share.mask(masked.masked, &reading.isMasked)
                share.characters += text.utf8.count - masked.masked
                // A number is still distinct from a text.
                if case .number = value { value = .number(masked.text) } else { value = .text(masked.text) }
                reading.leaves.append(Leaf(path: path, value: number(value)))
                return
            }
        case .compared: break
        }
        let count = reading.leaves.count
        switch value {
        case .object(let members) where !members.isEmpty:
            // Of members with the same name the last one wins, as in most parsers.
            if members.count <= 8 {
                for (place, member) in members.enumerated()
                where !members[(place + 1)...].contains(where: { $0.name.hasBytes(of: member.name) }) {
                    add(member.value, at: self.path(path, member.name), &reading)
                }
            } else {
                var seen: Set<FieldPath.Step> = []
                for member in members.reversed() where seen.insert(.member(member.name)).inserted {
                    add(member.value, at: self.path(path, member.name), &reading)
                }
            }
            addElement(.object([]), at: path, since: count, &reading)
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                add(element, at: paths.path(from: path, .element(index)), &reading)
            }
            addElement(.array([]), at: path, since: count, &reading)
        case .object where isHollow(path, isList: false, reading), .array where isHollow(path, isList: true, reading):
            break
        default:
            share.characters += value.characterCount
            reading.leaves.append(Leaf(path: path, value: number(value.normalized)))
        }
    }

    /// A member of which everything is ignored is as good as none. An element counts as an empty one: how many a list has is not
    /// ignored.
    private mutating func addElement(_ empty: JSONValue, at path: Int, since count: Int, _ reading: inout Reading) {
        guard reading.leaves.count == count, isElement(path) else { return }
        reading.leaves.append(Leaf(path: path, value: number(empty)))
    }

    /// Whether an empty object or list is as good as none: where values inside it are ignored, one that has nothing else equals
    /// both.
    private func isHollow(_ path: Int, isList: Bool, _ reading: Reading) -> Bool {
        !isElement(path) && paths.ignoresInside(path, isList: isList, from: reading.from, type: reading.type)
    }

    private func isElement(_ path: Int) -> Bool {
        if case .element? = paths.steps[path].last { true } else { false }
    }
}

extension FieldPath {
    /// The members of a body that have its content.
    static let contents: Set<String> = ["text", "json", "protobuf", "fields", "hex"]
}

extension JSONValue {
    /// The text that may be partly masked: a text, or a number's digits.
    fileprivate var maskable: String? {
        switch self {
        case .text(let text), .number(let text): text
        default: nil
        }
    }
}

extension MaskedShare {
    /// Counts masked characters.
    fileprivate mutating func mask(_ count: Int, _ isMasked: inout Bool) {
        characters += count
        masked += count
        isMasked = true
    }
}
