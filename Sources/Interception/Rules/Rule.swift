import Expressions
import Streams

/// One rule: what is done, and to which frames or bytes.
public struct Rule: Sendable {
    /// What is done.
    public enum Action: Sendable {
        /// To frames.
        case frame(FrameAction)
        /// To all bytes.
        case link(LinkAction)
    }

    /// Its name in traces: its own, or its action and its number.
    public var name: String
    /// What it does.
    public var action: Action
    /// The side whose bytes it applies to; nil: both.
    public var from: Direction?
    /// The connection it applies to, by the number of its opening; nil: all.
    public var connection: Int?
    /// When it applies, counted from the opening of the connection.
    public var window: Range<Interval>?
    /// Which frames it applies to.
    public var selection = FrameSelection()

    /// A rule for all frames or bytes.
    public init(name: String, action: Action, from: Direction? = nil) {
        (self.name, self.action, self.from) = (name, action, from)
    }

    /// The action's name in rule files.
    public var actionName: String {
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
public struct FrameSelection: Sendable {
    /// A frame of either side behind which the rule applies to the connection.
    public var after: Expression?
    /// What holds for the frame.
    public var when: Expression?
    /// Only this one of the frames for which `when` holds, from 1.
    public var nth: Int?
    /// Only each of these, as in every tenth.
    public var every: Int?
    /// The share of frames that are selected, by chance.
    public var probability: Double?
    /// The maximum number of frames.
    public var times: Int?

    /// All frames.
    public init() {}
}
