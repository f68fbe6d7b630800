/// Which frames a caller wants to see.
public struct FrameInterest: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// A set of kinds of frames.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Every frame.
    public static let all = FrameInterest(rawValue: 1)
    /// Heartbeats.
    public static let heartbeats = FrameInterest(rawValue: 2)
    /// Frames with a faulty body, the first of each kind and direction.
    public static let faultyBodies = FrameInterest(rawValue: 4)
    /// Requests and answers.
    public static let paired = FrameInterest(rawValue: 8)
}
