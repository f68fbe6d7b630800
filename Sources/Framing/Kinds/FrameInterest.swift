/// Which frames somebody wants to see.
public struct FrameInterest: OptionSet, Sendable {
    /// The bits.
    public let rawValue: Int

    /// A set of kinds of frames.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// Every frame.
    public static let all = FrameInterest(rawValue: 1)
    /// Heartbeats.
    public static let heartbeats = FrameInterest(rawValue: 2)
    /// Frames whose body is not what the format says, the first of a kind and direction.
    public static let faultyBodies = FrameInterest(rawValue: 4)
    /// Requests and answers.
    public static let paired = FrameInterest(rawValue: 8)
}
