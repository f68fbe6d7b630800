import Framing
import Streams
import Trace

/// The compared content of both traces' frames, as numbers: equal contents have equal numbers.
struct ContentTable {
    /// A value and its path; both are numbers of the table.
    struct Leaf: Hashable {
        var path: Int
        var value: Int
    }

    /// A value of a binding.
    struct Bound {
        var path: Int
        var binding: Int
        var value: JSONValue
    }

    /// An item, as it is compared.
    struct Entry {
        var from: Direction
        /// The number of its compared content.
        var content: Int
        /// The number of its direction and type.
        var kind: Int
        var bound: [Bound] = []
    }

    private struct Content: Hashable {
        var from: Direction
        var leaves: [Leaf]
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
    private(set) var share = MaskedShare()
    private(set) var values: [JSONValue] = [.text("«any»")]
    private var valueNumbers: [JSONValue: Int] = [:]
    private var contentNumbers: [Content: Int] = [:]
    private var contents: [Content] = []
    private var kinds: [Kind: Int] = [:]
    /// The kind of each content.
    private(set) var kindOfContent: [Int] = []

    init(_ rules: TraceRules) {
        paths = PathTable(rules)
    }

    /// The compared values of a content by path, sorted by the paths' numbers.
    func leaves(of content: Int) -> [Leaf] { contents[content].leaves }

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
            if frame.fields != .object([]) { add(frame.fields, at: path(PathTable.root, "fields"), &reading) }
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
        let content = number(Content(from: item.from, leaves: leaves), kind: reading.kind)
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

    private mutating func kind(_ from: Direction, _ type: String?, isFrame: Bool) -> Int {
        let kind = Kind(from: from, type: type, isFrame: isFrame)
        if let known = kinds[kind] { return known }
        kinds[kind] = kinds.count
        return kinds.count - 1
    }

    private mutating func number(_ content: Content, kind: Int) -> Int {
        if let known = contentNumbers[content] { return known }
        contentNumbers[content] = contents.count
        contents.append(content)
        kindOfContent.append(kind)
        return contents.count - 1
    }

    private mutating func number(_ value: JSONValue) -> Int {
        if let known = valueNumbers[value] { return known }
        valueNumbers[value] = values.count
        values.append(value)
        return values.count - 1
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
        case .bound(let binding, let form):
            // A value that does not match the template does not belong to the binding.
            if form.hasTemplates, let text = value.maskable, form.masking(text) == nil { break }
            share.mask(value.characterCount, &reading.isMasked)
            reading.bound.append(Bound(path: path, binding: binding, value: value.normalized))
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
        switch value {
        case .object(let members) where !members.isEmpty:
            // Of members with the same name the last one wins, as in most parsers.
            if members.count <= 8 {
                for (place, member) in members.enumerated()
                where !members[(place + 1)...].contains(where: { $0.name == member.name }) {
                    add(member.value, at: self.path(path, member.name), &reading)
                }
            } else {
                var seen: Set<String> = []
                for member in members.reversed() where seen.insert(member.name).inserted {
                    add(member.value, at: self.path(path, member.name), &reading)
                }
            }
        case .array(let elements) where !elements.isEmpty:
            for (index, element) in elements.enumerated() {
                add(element, at: paths.path(from: path, .element(index)), &reading)
            }
        default:
            share.characters += value.characterCount
            reading.leaves.append(Leaf(path: path, value: number(value.normalized)))
        }
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
