/// What a rule of the proxy did to a frame, or to bytes, on their way.
public struct ActionReport: Hashable, Sendable {
    /// What `detail` begins with if the action was not done.
    package static let notDone = "not done"

    /// The rule's name.
    public var rule: String
    /// What was done, such as `drop`.
    public var action: String
    /// Whose bytes.
    public var direction: Direction
    /// When.
    public var time: Timestamp
    /// The frame's number among those of its direction, from 0; nil if it was not done to a frame.
    public var index: Int?
    /// The frame's type, if it has one.
    public var type: String?
    /// Where the frame, or the bytes, began in the stream of what was sent.
    public var offset: Int
    /// How many bytes the sender sent.
    public var length: Int
    /// How many bytes the receiver gets instead.
    public var passed: Int
    /// In words: how much later, which field; `not done: ` and why, if it was not done.
    public var detail: String
    /// For a segmentation: whether the receiver has read each piece by itself; nil for all else, and while it is not known.
    public var isProven: Bool?
    /// What the frame began with; empty unless its bytes changed.
    public var before: [UInt8]
    /// What the receiver's frame begins with; empty unless its bytes changed.
    public var after: [UInt8]

    /// The rule of what happens to bytes whatever the rules say: they are held no longer than allowed.
    public static let limits = "limits"

    /// At most how many bytes `before` and `after` have.
    public static let mostBytes = 256

    /// What a rule did.
    public init(
        rule: String, action: String, direction: Direction, time: Timestamp, index: Int? = nil, type: String? = nil,
        offset: Int, length: Int, passed: Int, detail: String = "", before: [UInt8] = [], after: [UInt8] = []
    ) {
        (self.rule, self.action, self.direction, self.time) = (rule, action, direction, time)
        (self.index, self.type, self.offset, self.length, self.passed) = (index, type, offset, length, passed)
        self.detail = detail
        (self.before, self.after) = (Array(before.prefix(Self.mostBytes)), Array(after.prefix(Self.mostBytes)))
    }
}
