import Expressions
import Streams

/// One rule: what is done, and to which frames or bytes.
package struct Rule: Sendable {
    /// What is done.
    package enum Action: Sendable {
        /// To frames.
        case frame(FrameAction)
        /// To all bytes.
        case link(LinkAction)
    }

    /// Its name in traces: its own, or its action and its number.
    package var name: String
    /// What it does.
    package var action: Action
    /// The side whose bytes it applies to; nil: both.
    package var from: Direction?
    /// The connection it applies to, by the number of its opening; nil: all.
    package var connection: Int?
    /// When it applies, counted from the opening of the connection.
    package var window: Range<Interval>?
    /// Which frames it applies to.
    package var selection = FrameSelection()

    /// A rule for all frames or bytes.
    package init(name: String, action: Action, from: Direction? = nil) {
        (self.name, self.action, self.from) = (name, action, from)
    }

    /// The action's name in rule files.
    package var actionName: String {
        switch action {
        case .frame(let action): action.name
        case .link(let action): action.name
        }
    }

    /// Whether it applies to a direction of a connection at all.
    func applies(to direction: Direction, of connection: Int) -> Bool {
        (from ?? direction) == direction && (self.connection ?? connection) == connection
    }

    /// Whether it applies at a time.
    func isOpen(_ elapsed: Interval) -> Bool { window?.contains(elapsed) ?? true }
}

/// Which of a direction's frames a rule applies to. All conditions must hold; they are checked in this order.
package struct FrameSelection: Sendable {
    /// A frame of either side after which the rule applies to the connection.
    package var after: Expression?
    /// What holds for the frame.
    package var when: Expression?
    /// Only this one of the frames for which `when` holds, from 1.
    package var nth: Int?
    /// Only each of these, as in every tenth.
    package var every: Int?
    /// The share of frames that are selected, by chance.
    package var probability: Double?
    /// The maximum number of frames.
    package var times: Int?

    /// All frames.
    package init() {}
}
