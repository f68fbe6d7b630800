import Framing
import Streams

/// A stage that deals with frames, and may begin after what has passed.
protocol LateStage: Stage {
    /// The connection began, and these bytes have passed already.
    mutating func begin(at time: Timestamp, after passed: [(direction: Direction, bytes: [UInt8])], _ now: Timestamp)
}

extension FrameStage: LateStage {}
extension BreakStage: LateStage {}

/// Applies rules to frames whose format is not known before the connection speaks: until it is recognised, everything passes; from
/// then on, the rules apply to the frames that begin after what has passed.
struct RecognisingStage: Stage {
    private enum State {
        /// With what has passed so far: at most as much as the search looks at.
        case searching(any FormatSearch, passed: [(direction: Direction, bytes: [UInt8])])
        case framing(any LateStage)
        /// Nothing is recognised, or no rule suits the format.
        case nothing
    }

    private var state: State
    private var opened = Timestamp(nanoseconds: 0)
    private let make: @Sendable (Format) -> (any LateStage)?
    /// The conditions of breakpoints that were set before the format was known; nil: those that the stage was made with.
    private var breakpoints: [String]?

    /// - Parameter make: makes what applies the rules to frames of a format; nil: none does.
    init(_ search: any FormatSearch, _ make: @escaping @Sendable (Format) -> (any LateStage)?) {
        (state, self.make) = (.searching(search, passed: []), make)
    }

    var heldBytes: PerDirection<Int> {
        if case .framing(let stage) = state { stage.heldBytes } else { PerDirection(fromClient: 0, fromServer: 0) }
    }

    var heldSince: PerDirection<Timestamp?>? {
        if case .framing(let stage) = state { stage.heldSince } else { PerDirection(fromClient: nil, fromServer: nil) }
    }

    mutating func take(_ event: StageEvent, at now: Timestamp) -> [StageAction] {
        if case .framing = state { return framing { $0.take(event, at: now) } ?? [] }
        switch event {
        case .began: opened = now
        case .bytes(let bytes, let direction):
            look(bytes.span.bytes, direction, at: now)
            return [.emit(bytes, direction, at: now)]
        case .end(let ending, let direction): return [.end(ending, direction)]
        case .command(.setBreakpoints(let texts)): breakpoints = texts
        case .wake, .release, .command: break
        }
        return []
    }

    mutating func pass(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) -> [StageAction]? {
        if case .framing = state { return framing { $0.pass(bytes, direction, at: now) } }
        look(bytes, direction, at: now)
        return nil
    }

    /// Uses the stage in place: a copy would be copied whole when it changes.
    private mutating func framing(_ use: (inout any LateStage) -> [StageAction]?) -> [StageAction]? {
        guard case .framing(var stage) = state else { return [] }
        state = .nothing
        defer { state = .framing(stage) }
        return use(&stage)
    }

    private mutating func look(_ bytes: RawSpan, _ direction: Direction, at now: Timestamp) {
        guard case .searching(let search, var passed) = state else { return }
        state = .nothing
        passed.append((direction, bytes.copied()))
        if let format = search.take(bytes, from: direction, at: now) {
            guard var stage = make(format) else { return }
            stage.begin(at: opened, after: passed, now)
            // It holds nothing yet, so that there is nothing to do but to remember them.
            if let breakpoints { _ = stage.take(.command(.setBreakpoints(breakpoints)), at: now) }
            state = .framing(stage)
        } else if !search.isOver {
            state = .searching(search, passed: passed)
        }
    }
}
