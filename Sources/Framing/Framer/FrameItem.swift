/// A frame that lies whole in the available bytes.
public struct FrameItem: Sendable {
    /// The index of its first byte.
    public var start: Int
    /// Its parts.
    public var shape: FrameShape
    /// Where the framer keeps the extent of the frame's chunks; -1 if it lies in the newest one alone.
    var extent: Int32 = -1

    /// A frame at an index of the bytes.
    @inline(__always)
    public init(start: Int, shape: FrameShape) {
        (self.start, self.shape) = (start, shape)
    }
}

/// Where a run of frames ends.
public struct FrameRun {
    /// The index after the last of them.
    public var end: Int
    /// The parts of the frame that starts there, if they are known and not all of its bytes are available.
    public var next: FrameShape?

    /// A run's end.
    @inline(__always)
    public init(end: Int, next: FrameShape? = nil) {
        (self.end, self.next) = (end, next)
    }
}
