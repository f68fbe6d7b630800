/// A frame that lies whole in the bytes at hand.
public struct FrameItem: Sendable {
    /// The index of its first byte.
    public var start: Int
    /// Its parts.
    public var shape: FrameShape
    /// Where the framer keeps what it knows of the frame's chunks; -1 where it lies in the newest one alone.
    var extent: Int32 = -1

    /// A frame at an index of the bytes.
    @inline(__always)
    public init(start: Int, shape: FrameShape) {
        (self.start, self.shape) = (start, shape)
    }
}

/// Where a run of frames ends.
public struct FrameRun {
    /// The index behind the last of them.
    public var end: Int
    /// The parts of the frame that starts there, where they are known and not all of its bytes are there.
    public var next: FrameShape?

    /// A run's end.
    @inline(__always)
    public init(end: Int, next: FrameShape? = nil) {
        (self.end, self.next) = (end, next)
    }
}
