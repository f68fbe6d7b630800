import Framing
import Streams

/// Writes lines into memory. Those of frames may be written by others of its kind, which go on where it is: see `LineBatcher`.
protocol LineWriter: TraceSink {
    /// What was written.
    var lines: [UInt8] { get set }

    /// What the next line depends on, besides what it is about; nil if on nothing.
    var place: LinePlace? { get set }

    /// Comes to the place after a frame's line, without writing it.
    func pass(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection)

    /// Writes the last lines.
    func writeSummary(_ summary: Summary)

    /// Writes a frame's line.
    func write(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, of connection: ConnectionLeg)
}

/// The form of lines that are rendered in batches.
package enum LineForm: Sendable {
    /// One JSON object per line.
    ///
    /// - Parameter bodyLimit: at most how many bytes of a decoded body are shown.
    case ndjson(bodyLimit: Int)
    /// Human-readable lines.
    case text(TextOptions)

    /// A writer of frames' lines.
    func renderer() -> any LineWriter {
        switch self {
        case .ndjson(let bodyLimit): NDJSONWriter(bodyLimit: bodyLimit)
        case .text(let options): TextWriter(options)
        }
    }

    /// A writer that begins as a trace does.
    func writer(source: String, tool: String) -> any LineWriter {
        switch self {
        case .ndjson(let bodyLimit): NDJSONWriter(source: source, tool: tool, bodyLimit: bodyLimit)
        case .text(let options): TextWriter(options)
        }
    }

    /// At most how many bytes of a decoded body are shown.
    package var bodyLimit: Int {
        switch self {
        case .ndjson(let bodyLimit): bodyLimit
        case .text(let options): options.longestBody
        }
    }
}
