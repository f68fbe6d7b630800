import Expressions
import Streams

/// Which frames are requests, and which their answers.
package struct Pairing: Sendable {
    /// How an answer is matched to its request.
    package enum Rule: Sendable, Hashable {
        /// To the oldest unanswered one.
        case order
        /// To the oldest of the same type.
        case type
        /// To the oldest with the same value at a place, such as an id.
        case value(ValuePlace)
        /// To the oldest with the same body: the answer repeats it.
        case body
    }

    /// What a request is.
    package var request: Expression
    /// Its sender.
    package var from: Direction
    /// What its answer is; the other side sends it.
    package var answer: Expression
    /// How they are matched.
    package var rule: Rule
    /// Whether answers must arrive in the order of their requests.
    package var isOrdered: Bool
    /// After how long a request counts as unanswered; nil: at the end of the connection.
    package var within: Interval?
    /// Whether the request is a heartbeat.
    package var isHeartbeat: Bool
    /// Whether requests may remain unanswered, and answers may be unsolicited: then only round trips are timed.
    package var isOptional: Bool

    /// Which frames are requests, and which their answers.
    package init(
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
package struct PairRole: Hashable, Sendable {
    /// Which of `Format.allPairings`.
    package var pairing: Int
    /// Whether it is the request; otherwise the answer.
    package var isRequest: Bool
}

extension Format {
    /// The pairings, including that of heartbeats and their answers.
    package var allPairings: [Pairing] {
        guard let heartbeat, let answer = heartbeat.answer else { return pairings }
        return pairings + [
            Pairing(
                request: heartbeat.condition, from: heartbeat.from, answer: answer.condition, within: answer.within,
                isHeartbeat: true)
        ]
    }

    /// The pairing roles that frames of a direction may have.
    func pairConditions(_ direction: Direction) -> [(role: PairRole, condition: Expression)] {
        allPairings.enumerated().map { index, pairing in
            let isRequest = pairing.from == direction
            return (
                PairRole(pairing: index, isRequest: isRequest), isRequest ? pairing.request : pairing.answer
            )
        }
    }
}
