import Expressions
import Streams

/// Which frames are requests, and which their answers.
public struct Pairing: Sendable {
    /// How an answer's request is found.
    public enum Rule: Sendable, Hashable {
        /// It is the oldest that has no answer.
        case order
        /// It is the oldest of the same type.
        case type
        /// It is the oldest that has the same value at a place, such as an id.
        case value(ValuePlace)
        /// It is the oldest with the same body: the answer repeats it.
        case body
    }

    /// What a request is.
    public var request: Expression
    /// Who sends it.
    public var from: Direction
    /// What its answer is; the other side sends it.
    public var answer: Expression
    /// How they belong together.
    public var rule: Rule
    /// Whether answers have to come in the order of their requests.
    public var isOrdered: Bool
    /// After how long a request counts as unanswered; nil: when the connection is over.
    public var within: Interval?
    /// Whether the request is a heartbeat.
    public var isHeartbeat: Bool
    /// Whether requests may remain without answer, and answers come unasked: then only round trips are timed.
    public var isOptional: Bool

    /// Which frames are requests, and which their answers.
    public init(
        request: Expression, from: Direction, answer: Expression, rule: Rule = .order, isOrdered: Bool = true,
        within: Interval? = nil, isHeartbeat: Bool = false, isOptional: Bool = false
    ) {
        self.request = request
        self.from = from
        self.answer = answer
        self.rule = rule
        self.isOrdered = isOrdered
        self.within = within
        self.isHeartbeat = isHeartbeat
        self.isOptional = isOptional
    }
}

/// What a frame is in one of its format's pairings.
public struct PairRole: Hashable, Sendable {
    /// Which of `Format.allPairings`.
    public var pairing: Int
    /// Whether it is the request, and not the answer.
    public var isRequest: Bool
}

extension Format {
    /// The pairings, that of heartbeats and their answers among them.
    public var allPairings: [Pairing] {
        guard let heartbeat, let answer = heartbeat.answer else { return pairings }
        return pairings + [
            Pairing(
                request: heartbeat.condition, from: heartbeat.from, answer: answer.condition, within: answer.within,
                isHeartbeat: true)
        ]
    }

    /// What frames of a direction may be in pairings.
    func pairConditions(_ direction: Direction) -> [(role: PairRole, condition: Expression)] {
        allPairings.enumerated().map { index, pairing in
            let isRequest = pairing.from == direction
            return (
                PairRole(pairing: index, isRequest: isRequest), isRequest ? pairing.request : pairing.answer
            )
        }
    }
}
