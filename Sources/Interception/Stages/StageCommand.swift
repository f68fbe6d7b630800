import Framing
import Streams

/// What the control API asks of the stages of a connection that is already being relayed.
package enum StageCommand: Hashable, Sendable {
    /// From now on, these rules apply to all bytes, instead of those that did.
    case setLine([LineRule])
    /// This frame passes in a direction, as soon as the next byte of it would begin a frame.
    case inject([UInt8], Direction)
    /// From now on, frames for which one of these conditions holds are stopped.
    case setBreakpoints([String])
    /// What becomes of a stopped frame, by its direction and its place among the frames of it, from 0.
    case decide(Direction, index: Int, Decision)

    /// What becomes of a stopped frame.
    package enum Decision: Hashable, Sendable {
        /// It passes.
        case release
        /// It does not pass.
        case drop
        /// It passes with other values; everything that follows from them is recomputed.
        case replace(fields: [Field], body: Body?)
    }

    /// What came of a decision.
    package enum Outcome: Hashable, Sendable {
        case done
        /// No frame of this number is stopped.
        case notStopped
        /// The frame cannot be replaced like that: it is still stopped.
        case impossible(EncodingError)
    }

    /// A body, before it is encoded.
    package struct Body: Hashable, Sendable {
        let content: BodyContent

        /// A body as a line of a trace has it.
        package init(_ content: BodyContent) { self.content = content }
    }
}

/// A rule for all bytes of a connection.
package struct LineRule: Hashable, Sendable {
    /// Its name in traces.
    package var name: String
    /// What it does.
    package var action: LinkAction
    /// The side whose bytes it applies to; nil: both.
    package var from: Direction?

    /// A rule.
    package init(name: String, action: LinkAction, from: Direction?) {
        (self.name, self.action, self.from) = (name, action, from)
    }

    var rule: Rule { Rule(name: name, action: .link(action), from: from) }
}
