/// A frame that lies whole in the available bytes.
package struct FrameItem: Sendable {
    /// The index of its first byte.
    package var start: Int
    /// Its parts.
    package var shape: FrameShape
    /// Where the framer keeps the extent of the frame's chunks; -1 if it lies in the newest one alone.
    var extent: Int32 = -1

    /// A frame at an index of the bytes.
    @inline(__always)
    package init(start: Int, shape: FrameShape) {
        (self.start, self.shape) = (start, shape)
    }
}

/// Where a run of frames ends.
package struct FrameRun {
    /// The index after the last of them.
    package var end: Int
    /// The parts of the frame that starts there, if they are known and not all of its bytes are available.
    package var next: FrameShape?

    /// A run's end.
    @inline(__always)
    package init(end: Int, next: FrameShape? = nil) {
        (self.end, self.next) = (end, next)
    }
}
