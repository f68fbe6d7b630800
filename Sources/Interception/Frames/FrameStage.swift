import Expressions
import Framing
import Streams

/// Applies rules to the frames of a connection, one after the other.
///
/// Frames pass when they are complete. Unframed bytes and padding pass as they are, and so does a frame that is larger than what
/// may be held.
struct FrameStage: Stage {
    /// One direction.
    struct Side {
        var framer: Framer
        /// What was received and has not been dealt with, behind the first `taken` bytes; from this offset of the stream on.
        private var buffer: [UInt8] = []
        private var taken = 0
        private(set) var base = 0
        /// How many frames there were of each type.
        var types: [String: Int] = [:]
        /// A frame that waits for the next one.
        var swapped: [UInt8] = []
        /// Until when frames wait, and those that do.
        var hold: (rule: Int, deadline: Timestamp?)?
        var held: [[UInt8]] = []
        /// Bytes that pass immediately, to be written together.
        var passing: [UInt8] = []
        /// Until when frames wait that must not overtake another one.
        var ordered = Timestamp(nanoseconds: .min)
        /// Whether a rule has ended it.
        var isOver = false

        init(framer: Framer) { self.framer = framer }

        /// How many bytes were received and not dealt with.
        var pending: Int { buffer.count - taken }

        var heldBytes: Int { pending + swapped.count + held.reduce(0) { $0 + $1.count } }

        mutating func append(_ bytes: [UInt8]) {
            if taken == buffer.count { (buffer, taken) = ([], 0) }
            if taken > 65_536 {
                buffer.removeFirst(taken)
                taken = 0
            }
            buffer += bytes
        }

        /// Takes the next bytes, at most as many as there are.
        mutating func take(_ count: Int) -> [UInt8] {
            let count = min(count, pending)
            guard count > 0 else { return [] }
            defer { (taken, base) = (taken + count, base + count) }
            return Array(buffer[taken..<taken + count])
        }

        /// Forgets everything that has not passed.
        mutating func discard() { (buffer, taken, swapped, held, hold) = ([], 0, [], [], nil) }
    }

    let format: Format
    var rules: [NumberedRule]
    var sides: PerDirection<Side>
    var opened = Timestamp(nanoseconds: 0)
    var actions: [StageAction] = []
    private let largest: Int
    private let scratch = FramingScratch()
    /// Whether frames are counted by their types.
    let countsTypes: Bool
    /// Whether a frame may be overtaken.
    let reorders: Bool

    /// - Parameter largest: a frame with more bytes passes before it is complete.
    init(_ rules: [NumberedRule], _ format: Format, largest: Int) {
        (self.rules, self.format, self.largest) = (rules, format, largest)
        sides = PerDirection(
            fromClient: Side(framer: Self.framer(format, .fromClient)),
            fromServer: Side(framer: Self.framer(format, .fromServer)))
        let expressions = rules.flatMap { $0.rule.expressions }
        countsTypes = expressions.contains { $0.paths.contains(["nth"]) }
        reorders = rules.contains {
            if case .frame(.delay(_, _, isOvertaken: true)) = $0.rule.action { true } else { false }
        }
    }

    private static func framer(_ format: Format, _ direction: Direction) -> Framer {
        Framer(rule: format.directions[direction].rule, direction: direction, aligned: true)
    }

    var heldBytes: PerDirection<Int> {
        PerDirection(fromClient: sides.fromClient.heldBytes, fromServer: sides.fromServer.heldBytes)
    }

    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        switch event {
        case .began: opened = now
        case .bytes(let bytes, let direction): if !sides[direction].isOver { receive(bytes, direction, at: now) }
        case .end(let ending, let direction):
            guard !sides[direction].isOver else { break }
            releaseAll(direction)
            flush(direction, at: now)
            actions.append(.end(ending, direction))
        case .wake:
            for direction in Direction.allCases {
                if let deadline = sides[direction].hold?.deadline, deadline <= now { releaseHold(direction) }
            }
        case .release(let direction): releaseAll(direction)
        }
        for direction in Direction.allCases { flush(direction, at: now) }
        if let next = Direction.allCases.compactMap({ sides[$0].hold?.deadline }).min() {
            actions.append(.wake(at: next))
        }
        defer { actions = [] }
        return actions
    }

    // MARK: Framing

    private mutating func receive(_ bytes: [UInt8], _ direction: Direction, at now: Timestamp) {
        sides[direction].append(bytes)
        let found = FrameCollector()
        sides[direction].framer.receive(bytes.span.bytes, at: now, packet: 0, scratch: scratch, into: found)
        for item in found.items {
            switch item {
            case .passed(let end): pass(upTo: end, direction)
            case .frame(let info):
                // One of which the beginning has passed passes whole.
                guard info.offset >= sides[direction].base else {
                    pass(upTo: info.offset + info.length, direction)
                    continue
                }
                pass(upTo: info.offset, direction)
                let frame = sides[direction].take(info.length)
                take(frame, info, direction, at: now)
                if sides[direction].isOver { return }
            }
        }
        let (end, held) = (sides[direction].base + sides[direction].pending, sides[direction].framer.heldBytes)
        let isEager = !sides[direction].framer.isAligned || sides[direction].pending > largest
        pass(upTo: isEager ? end : end - held, direction)
    }

    /// Bytes that are not a frame's pass as they are.
    private mutating func pass(upTo end: Int, _ direction: Direction) {
        let bytes = sides[direction].take(end - sides[direction].base)
        guard !bytes.isEmpty else { return }
        if sides[direction].hold != nil {
            sides[direction].held.append(bytes)
        } else {
            sides[direction].passing += bytes
        }
    }

    // MARK: Emitting

    /// Emits the bytes that pass together.
    mutating func flush(_ direction: Direction, at now: Timestamp) {
        let bytes = sides[direction].passing
        guard !bytes.isEmpty else { return }
        sides[direction].passing = []
        emit(bytes, direction, at: now)
    }

    /// Emits a frame of its own.
    mutating func emit(
        _ bytes: [UInt8], _ direction: Direction, at due: Timestamp, isOvertaken: Bool = false, cause: String? = nil
    ) {
        guard reorders else { return actions.append(.emit(bytes, direction, at: due, cause: cause)) }
        let due = max(due, sides[direction].ordered)
        if !isOvertaken { sides[direction].ordered = due }
        actions.append(.emit(bytes, direction, at: due, overtakes: true, cause: cause))
    }

    /// What a hold keeps passes.
    mutating func releaseHold(_ direction: Direction) {
        sides[direction].hold = nil
        for bytes in sides[direction].held { sides[direction].passing += bytes }
        sides[direction].held = []
    }

    /// Everything passes that is kept.
    private mutating func releaseAll(_ direction: Direction) {
        releaseHold(direction)
        sides[direction].passing += sides[direction].swapped
        sides[direction].swapped = []
        pass(upTo: .max, direction)
    }
}

/// Collects what a framer finds in a chunk.
private final class FrameCollector: FrameReceiver {
    enum Item {
        case frame(FrameInfo)
        /// Everything up to this offset belongs to no frame, or to one whose beginning has passed.
        case passed(to: Int)
    }

    private(set) var items: [Item] = []

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) { items.append(.frame(frame)) }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        items.append(.passed(to: run.offset + run.byteCount))
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
}

extension Rule {
    /// All its conditions.
    var expressions: [Expression] {
        var all = [selection.after, selection.when]
        if case .frame(.hold(let hold)) = action { all += [hold.until, hold.passing] }
        return all.compactMap { $0 }
    }
}
