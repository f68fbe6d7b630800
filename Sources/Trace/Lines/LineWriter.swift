import Framing
import Streams

/// Writes lines into memory. Another writer of the same form can write the lines of frames, from this one's `state` on (`LineBatcher`).
protocol LineWriter: TraceSink {
    /// What was written.
    var lines: [UInt8] { get set }

    /// What the next line takes over from those before it; nil if nothing.
    var state: LineState? { get set }

    /// Changes `state` as a frame's line would, without writing it.
    func skip(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection)

    /// Writes the last lines.
    func writeSummary(_ summary: Summary)

    /// Writes a frame's line.
    func write(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, of connection: ConnectionLeg)
}
