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

    package func opened(_ connection: TracedConnection) {}
    package func recognised(_ connection: TracedConnection) {}
    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}
    package func missing(_ gap: Gap, on connection: TracedConnection) {}
    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {}
    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {}
    package func finding(_ finding: Finding) {}
    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {}
    package func flush() {}

    package func summary(_ summary: Summary) {
        let text = SummaryText.lines(summary).map { $0 + "\n" }.joined()
        output.write(Array(text.utf8))
    }
}
