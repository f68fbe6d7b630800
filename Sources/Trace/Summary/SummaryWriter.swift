import Framing
import Streams

/// Writes the summary alone, or nothing at all.
package final class SummaryWriter: TraceSink {
    private let output: any ByteOutput

    /// A writer to `output`.
    package init(to output: any ByteOutput) {
        self.output = output
    }

    package var takesFrames: Bool { false }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}
    package func summary(_ summary: Summary) {
        let text = SummaryText.lines(summary).map { $0 + "\n" }.joined()
        output.write(Array(text.utf8))
    }
}
