import Expressions

/// Values that a frame leaves for those after it, since their headers do not repeat them (`remembers` in a format file): the
/// length and type of a message whose pieces follow.
struct Remembering: Sendable {
    /// What becomes a value when a frame is complete.
    struct Entry: Sendable {
        /// The value's name.
        var name: String
        /// What it becomes.
        var value: Expression
        /// For which frames.
        var condition: Expression?
        /// What tells values of the same name apart, such as a stream's number; nil: there is only one.
        var key: Expression?
        /// The values of the body that its condition needs, and those that the rest needs.
        private(set) var bodyPaths: (ofCondition: [[String]], others: [[String]])

        init(name: String, value: Expression, condition: Expression?, key: Expression?) {
            (self.name, self.value, self.condition, self.key) = (name, value, condition, key)
            func paths(_ expression: Expression?) -> [[String]] {
                expression?.paths.filter { $0.first == "body" && $0 != Remembering.bodyLength } ?? []
            }
            bodyPaths = (paths(condition), paths(value) + paths(key))
        }
    }

    /// In the order in which they apply; each sees what those before it have set.
    let entries: [Entry]
    /// The values before any frame.
    let initial: [String: Int]
    /// The value that frames show as a field.
    let shown: Shown?

    /// A value that frames show as a field of its name.
    struct Shown: Sendable {
        var name: String
        /// The names of its values.
        var names: [FieldValue: String]
    }

    /// What expressions call the values.
    static let root = "last"

    /// The names of the values, each with the key by which frames find it: that of its first entry.
    private let names: [(name: String, key: Expression?)]
    init(_ entries: [Entry], initial: [String: Int], shown: Shown?) {
        (self.entries, self.initial, self.shown) = (entries, initial, shown)
        var names: [(name: String, key: Expression?)] = []
        for entry in entries where !names.contains(where: { $0.name == entry.name }) {
            names.append((entry.name, entry.key))
        }
        self.names = names
    }

    fileprivate static let bodyLength = ["body", "length"]

    /// Adds what is remembered to the values of a header, for the frame that has it.
    func recall(_ memory: DirectionMemory?, into scope: inout StructureScope) {
        for (name, key) in names {
            guard let place = place(name, key, scope) else { continue }
            if let value = memory?.values[place] ?? initial[name] {
                scope.add([Self.root, name], .integer(Int64(value)))
            }
        }
    }

    /// Applies the entries after a frame.
    ///
    /// - Parameters:
    ///   - scope: the values of its header, and what was recalled for it.
    ///   - body: its body's length.
    ///   - memory: where the values are kept; nil: only `scope` receives them.
    ///   - bodyValue: the value of the body at a path; asked only where an entry applies, since it takes decoding the body.
    func apply(
        body: Int, to scope: inout StructureScope, _ memory: DirectionMemory?,
        _ bodyValue: (_ path: [String]) -> Value = { _ in .absent }
    ) {
        scope.add(Self.bodyLength, .integer(Int64(body)))
        for entry in entries {
            for path in entry.bodyPaths.ofCondition { scope.add(path, bodyValue(path)) }
            guard scope.holds(entry.condition) else { continue }
            for path in entry.bodyPaths.others { scope.add(path, bodyValue(path)) }
            guard let value = scope.number(entry.value),
                let place = place(entry.name, entry.key, scope)
            else { continue }
            memory?.remember(value, at: place)
            let read = names.first { $0.name == entry.name }.flatMap { self.place(entry.name, $0.key, scope) }
            if place == read { scope.add([Self.root, entry.name], .integer(Int64(value))) }
        }
    }

    /// The value that a frame shows, given the values of its header and what was recalled for it.
    func shown(body: Int, _ scope: StructureScope) -> Int32? {
        guard let shown else { return nil }
        var scope = scope
        apply(body: body, to: &scope, nil)
        guard case .integer(let value) = scope.value(at: [Self.root, shown.name]) else { return nil }
        return Int32(exactly: value)
    }

    private func place(_ name: String, _ key: Expression?, _ scope: StructureScope) -> DirectionMemory.Place? {
        guard let key else { return DirectionMemory.Place(name: name, key: .none) }
        if let number = scope.number(key) { return DirectionMemory.Place(name: name, key: .number(number)) }
        switch key.value(scope) {
        case .text(let text): return DirectionMemory.Place(name: name, bytes: Array(text.utf8))
        case .bytes(let bytes): return DirectionMemory.Place(name: name, bytes: bytes)
        default: return nil
        }
    }
}

/// What the rule `fields` remembers of one direction. `@unchecked Sendable`: only the rule of that direction's framer and the
/// `Conversation` use it, which have one owner.
final class DirectionMemory: @unchecked Sendable {
    /// The walks over the header of the stream's current frame, one for each rule that it may be of.
    private var held: [HeldWalk] = []
    /// The header lines that a search read last; nil if there is none.
    var lines: KnownLines?
    /// The end of a body that a search looked for last; nil if there is none.
    var ends: KnownEnds?
    /// What complete frames have left for those after them.
    private(set) var values: [Place: Int] = [:]

    /// A value's name and key.
    struct Place: Hashable {
        var name: String
        var key: Key

        /// What tells values of the same name apart.
        enum Key: Hashable {
            /// Nothing: there is only one.
            case none
            case number(Int)
            /// Bytes, or text that is no number.
            case bytes([UInt8])
        }

        init(name: String, key: Key) { (self.name, self.key) = (name, key) }

        /// A place by bytes; nil if they are longer than what is remembered, since the network chooses them.
        init?(name: String, bytes: [UInt8]) {
            guard bytes.count <= Self.longestKey else { return nil }
            self.init(name: name, key: .bytes(bytes))
        }

        private static let longestKey = 256
    }

    /// At most this many values are remembered: network bytes choose the keys.
    private static let most = 4_096

    /// Takes out the walk over the header at a stream offset that a rule has begun.
    ///
    /// - Parameter available: how many of the frame's bytes are available now: a search may look at fewer than before.
    func takeWalk(of identity: HeldWalk.Identity, at offset: Int, _ available: Int) -> StructureWalk? {
        guard let first = held.first else { return nil }
        if first.offset != offset {
            held.removeAll(keepingCapacity: true)
            return nil
        }
        guard let index = held.firstIndex(where: { $0.identity === identity }) else { return nil }
        let known = held.remove(at: index)
        return known.seen <= available ? known.walk : nil
    }

    /// Keeps a walk that cannot go on yet.
    func hold(_ walk: HeldWalk) { held.append(walk) }

    func remember(_ value: Int, at place: Place) {
        if values.count < Self.most || values[place] != nil { values[place] = value }
    }

    /// What a search remembers is not of the bytes to come.
    func forgetSearch() {
        if lines != nil || ends != nil { (lines, ends) = (nil, nil) }
    }

    /// Nothing that was begun is of the bytes to come.
    func forget() {
        forgetSearch()
        held = []
    }

    /// Bytes were not seen: what has a key belongs to something that may have ended.
    func lost() {
        forget()
        if !values.isEmpty { values = values.filter { $0.key.key == .none } }
    }
}
