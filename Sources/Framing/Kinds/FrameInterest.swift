/// Which frames a caller wants to see.
package struct FrameInterest: OptionSet, Sendable {
    /// The bits.
    package let rawValue: Int

    /// A set of kinds of frames.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// Every frame.
    package static let all = FrameInterest(rawValue: 1)
    /// Heartbeats.
    package static let heartbeats = FrameInterest(rawValue: 2)
    /// Frames with a faulty body, the first of each kind and direction.
    package static let faultyBodies = FrameInterest(rawValue: 4)
    /// Requests and answers.
    package static let paired = FrameInterest(rawValue: 8)
}
