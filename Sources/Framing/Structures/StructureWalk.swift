import Expressions
import Streams

/// What a `StructureWalk` passes on: the values of a structure, in order.
protocol StructureVisitor {
    /// Whether values that no expression needs are of interest.
    static var wantsValues: Bool { get }

    /// Whether header lines are read if nothing follows them: those of a head that was walked over before need not be.
    static var wantsLines: Bool { get }

    /// An object or a list begins; `name` is empty for an element of a list.
    mutating func begin(_ name: String, isList: Bool, isFlat: Bool)
    /// It ends.
    mutating func end()
    /// A value; `place` is where its bytes are.
    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>)
    /// Constant bytes.
    mutating func literal(_ place: Range<Int>)

    /// Whether pieces are of interest.
    static var wantsPieces: Bool { get }
    /// All bytes of an item; of a list or a group those before its items. `path` has the sequence, the item and the iteration of
    /// each level.
    mutating func piece(_ path: [Int], _ place: Range<Int>)
}

extension StructureVisitor {
    /// They are.
    static var wantsLines: Bool { true }
    /// They are not.
    static var wantsPieces: Bool { false }
    /// Nothing.
    mutating func piece(_ path: [Int], _ place: Range<Int>) {}
}

/// A walk over the bytes of a structure: finds where it ends, and the values on the way.
///
/// It can stop wherever bytes are missing, and go on from there when there are more: no byte is examined again for each chunk
/// that arrives. Its stack is an array: nesting costs no call stack, and is bounded.
struct StructureWalk: Sendable {
    /// How far it got.
    enum Outcome: Equatable {
        /// The structure is complete.
        case complete
        /// At least this many bytes of it are needed.
        case incomplete(atLeast: Int)
        /// These bytes are not the structure.
        case bad(String)
    }

    /// A sequence that was begun.
    struct Level: Sendable {
        var sequence: Int
        var item = 0
        /// How often it has begun, if it repeats.
        var iteration = 0
        /// How often it repeats after this time; nil if that follows from the bytes.
        var left: Int? = 0
        var iterations = Iterations.once
        /// Where its area ends; nil if that is not bounded.
        var end: Int?
        /// Where the current iteration began.
        var begun: Int
        /// The values of the enclosing sequences.
        var scope: Int
        /// How many objects and lists end with it.
        var opened = 1
        /// Whether it has an area of its own, whose rest is a value.
        var isSized = false
        /// The names of the groups that it is in.
        var path: [String] = []

        enum Iterations: Sendable {
            case once
            case counted
            case toEnd
            case until([UInt8])
            case again(Expression)
        }
    }

    /// The name of the bytes that are left of an item with a size.
    static let rest = "rest"

    /// The index of the next byte.
    var at = 0
    /// The values so far.
    var scope: StructureScope
    var levels: [Level] = []
    private var isBegun = false
    /// Whether it has come to the structure's end.
    var isComplete: Bool { isBegun && levels.isEmpty }
    /// What did not fit in the outermost sequence, if the bytes that it has are known.
    private(set) var fault: String?
    /// Whether bytes did not fit somewhere, so that the values may not say how they were written.
    private(set) var isBroken = false
    /// Bytes before this index end no text or line, for the item at `at`.
    var searched = 0
    /// How many bytes the bodies inside were decoded to.
    var decodedBytes = 0
    /// Whether bodies inside could not be decoded, so that their values do not say how they were written.
    var hasUnreadBodies = false
    /// Whether bodies inside are shown without the secrets of the formats of frames in them.
    var hidesSecrets = false

    /// Whether faults are described. A search, which tries most places in vain, has no use for that.
    var explains = true

    /// The header lines read last, and the stream offset of the structure's first byte; nil if they are not remembered.
    var knownLines: (lines: KnownLines, base: Int)?

    /// A walk that has not begun.
    init(scope: StructureScope = StructureScope(), explains: Bool = true) {
        (self.scope, self.explains) = (scope, explains)
    }

    /// Walks as far as the bytes go.
    ///
    /// - Parameters:
    ///   - bytes: all bytes from the structure's first one on, as far as available.
    ///   - end: where the bytes end that the structure may have, if that is known.
    ///   - isBody: whether those bytes are the structure, so that trailing items may be missing.
    mutating func go<Visitor: StructureVisitor>(
        _ structure: Structure, _ bytes: RawSpan, end: Int?, isBody: Bool = false, _ visitor: inout Visitor
    ) -> Outcome {
        if !isBegun {
            isBegun = true
            levels.append(
                Level(sequence: 0, end: end, begun: 0, scope: scope.count, opened: 0, isSized: isBody))
        }
        while !levels.isEmpty {
            // A level is not copied for every item.
            let last = levels.count - 1
            let (sequence, item, end) = (levels[last].sequence, levels[last].item, levels[last].end)
            let begun = at
            let step: Step
            if item < structure.sequences[sequence].items.count {
                let path = Visitor.wantsPieces ? levels.flatMap { [$0.sequence, $0.item, $0.iteration] } : []
                step = take(structure.sequences[sequence].items[item], structure, bytes, end, &visitor)
                if Visitor.wantsPieces, case .done = step { visitor.piece(path, begun..<at) }
            } else {
                step = endIteration(structure, bytes, &visitor)
            }
            switch step {
            case .done: continue
            case .incomplete(let count):
                guard let end, end <= bytes.byteCount || at + count > end else {
                    return .incomplete(atLeast: at + max(1, count))
                }
                let message = explains ? "\(name(sequence, item, structure)) ends after the bytes around it" : ""
                if let outcome = fail(message, bytes, &visitor) {
                    return outcome
                }
            case .bad(let message):
                // All of the item is left, the size before it included.
                at = begun
                if let outcome = fail(message, bytes, &visitor) { return outcome }
            }
        }
        return .complete
    }

    /// Bytes do not fit: those that are left of the innermost item with a size are its rest, and what follows it is not affected.
    ///
    /// - Returns: the walk's outcome, if there is no such item, or not all of it is available.
    private mutating func fail<Visitor: StructureVisitor>(
        _ message: String, _ bytes: RawSpan, _ visitor: inout Visitor
    ) -> Outcome? {
        guard let sized = levels.lastIndex(where: \.isSized), let end = levels[sized].end else { return .bad(message) }
        guard end <= bytes.byteCount else { return .incomplete(atLeast: end) }
        for level in levels[(sized + 1)...].reversed() { for _ in 0..<level.opened { visitor.end() } }
        levels.removeLast(levels.count - sized - 1)
        // Nothing more of it is read; in a list, it is the rest of the element in which that happened.
        if sized == 0, at < end { fault = message }
        isBroken = true
        let rest = Structure.Item(name: Self.rest, content: .sized(.bytes))
        if at < end { visitor.value(Self.rest, .bytes(bytes.copied(at..<end)), rest, at..<end) }
        scope.shorten(to: levels[sized].scope)
        for _ in 0..<levels[sized].opened { visitor.end() }
        levels.removeLast()
        at = end
        if !levels.isEmpty { advance(to: at) }
        return nil
    }

    private func name(_ sequence: Int, _ item: Int, _ structure: Structure) -> String {
        let items = structure.sequences[sequence].items
        guard item < items.count else { return "a list" }
        return items[item].name.isEmpty ? "a constant" : items[item].name
    }

    /// The result of a step; `incomplete` counts from the next byte.
    enum Step {
        case done
        case incomplete(Int)
        case bad(String)
    }

    /// Bytes do not fit.
    func bad(_ message: @autoclosure () -> String) -> Step { .bad(explains ? message() : "") }

    // MARK: Sequences

    /// Moves to the item after the current one.
    mutating func advance(to place: Int) {
        at = place
        searched = 0
        levels[levels.count - 1].item += 1
    }

    /// The items of a level have been read once.
    private mutating func endIteration<Visitor: StructureVisitor>(
        _ structure: Structure, _ bytes: RawSpan, _ visitor: inout Visitor
    ) -> Step {
        if levels.count == 1, case .once = levels[0].iterations, !levels[0].isSized, levels[0].opened == 0 {
            // The end of the structure: the most common level takes nothing with it.
            levels.removeLast()
            return .done
        }
        let level = levels[levels.count - 1]
        switch level.iterations {
        case .once: break
        case .counted:
            if level.left ?? 0 > 0 { return beginIteration(structure, &visitor) }
        case .toEnd:
            guard let end = level.end, at < end else { break }
            return beginIteration(structure, &visitor)
        case .again(let condition):
            if level.item == .max || condition.evaluate(scope) { return beginIteration(structure, &visitor) }
        case .until(let mark):
            // Nothing after the bytes of the enclosing item ends it.
            if let end = level.end, at + mark.count > end {
                return at < end ? beginIteration(structure, &visitor) : .incomplete(mark.count)
            }
            let known = bytes.extracting(at..<min(bytes.byteCount, at + mark.count))
            let prefix = Array(mark.prefix(known.byteCount))
            guard known.elementsEqual(prefix.span.bytes) else {
                return beginIteration(structure, &visitor)
            }
            guard known.byteCount == mark.count else { return .incomplete(mark.count) }
            at += mark.count
        }
        if level.isSized, let end = level.end, at < end {
            guard end <= bytes.byteCount else { return .incomplete(end - at) }
            let rest = Structure.Item(name: Self.rest, content: .sized(.bytes))
            visitor.value(Self.rest, .bytes(bytes.copied(at..<end)), rest, at..<end)
            at = end
        }
        levels.removeLast()
        if case .once = level.iterations {} else { scope.shorten(to: level.scope) }
        for _ in 0..<level.opened { visitor.end() }
        if !levels.isEmpty { advance(to: at) }
        return .done
    }

    /// The next iteration of a sequence that repeats begins.
    private mutating func beginIteration<Visitor: StructureVisitor>(
        _ structure: Structure, _ visitor: inout Visitor
    ) -> Step {
        let index = levels.count - 1
        let level = levels[index]
        let isFirst = level.item == .max
        if !isFirst {
            visitor.end()
            // Without bytes it could repeat as often as it likes.
            if at == level.begun { return bad("a list repeats without bytes") }
        }
        scope.shorten(to: level.scope)
        levels[index].left = level.left.map { $0 - 1 }
        levels[index].iteration += 1
        levels[index].begun = at
        levels[index].item = 0
        levels[index].opened = 2
        searched = 0
        visitor.begin("", isList: false, isFlat: structure.sequences[level.sequence].only != nil)
        return .done
    }

    /// Begins the items of a sequence.
    mutating func enter<Visitor: StructureVisitor>(
        _ sequence: Int, _ item: Structure.Item, _ iterations: Level.Iterations, count: Int? = 0, end: Int?,
        isSized: Bool,
        _ visitor: inout Visitor
    ) -> Step {
        guard levels.count < Structure.deepest else { return bad("\(item.name) nests too deeply") }
        var level = Level(
            sequence: sequence, left: count, iterations: iterations, end: end ?? levels.last?.end, begun: at,
            scope: scope.count, isSized: isSized)
        level.path = (levels.last?.path ?? []) + (item.name.isEmpty ? [] : [item.name])
        switch iterations {
        case .once:
            level.opened = item.name.isEmpty ? 0 : 1
            if !item.name.isEmpty { visitor.begin(item.name, isList: false, isFlat: false) }
        case .counted, .toEnd, .until, .again:
            // The first iteration begins as all others do.
            level.item = .max
            visitor.begin(item.name, isList: true, isFlat: false)
        }
        levels.append(level)
        return .done
    }
}

/// Only finds the end.
struct NoVisitor: StructureVisitor {
    static var wantsValues: Bool { false }

    mutating func begin(_ name: String, isList: Bool, isFlat: Bool) {}
    mutating func end() {}
    mutating func value(_ name: String, _ value: FieldValue, _ item: Structure.Item, _ place: Range<Int>) {}
    mutating func literal(_ place: Range<Int>) {}
}
