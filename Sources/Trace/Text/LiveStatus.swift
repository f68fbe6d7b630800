import Framing
import Streams

/// The status line on a terminal during live capture: `2 of 17 connections open, 1,204 frames/s, 2.3 MB/s, 1 gap, queue 0 %`.
///
/// It counts as a sink; the caller that draws asks for the line.
package final class LiveStatus: TraceSink {
    /// The minimum time a line stays.
    private static let rest = Interval.milliseconds(500)

    private var connections = 0
    private var closed = 0
    private var frames = 0
    private var bytes = 0
    private var missing = 0
    private var findings: [Finding.Kind: Int] = [:]
    private var shown: (time: Timestamp, frames: Int, bytes: Int)?
    /// The traffic per second when last computed.
    private var rates = (frames: 0, bytes: 0)

    /// Nothing counted yet.
    package init() {}

    /// Computes the traffic since the last call.
    ///
    /// - Returns: whether there is a line to show; false if it is too early for another.
    package func look(at now: Timestamp) -> Bool {
        let passed = shown.map { now - $0.time }
        // A clock that was set back must not stop the updates.
        if let passed, passed < Self.rest, passed.nanoseconds >= 0 { return false }
        if let passed, let shown {
            func perSecond(_ count: Int) -> Int { Int((Double(count) / max(passed.seconds, 0.001)).rounded()) }
            rates = (perSecond(frames - shown.frames), perSecond(bytes - shown.bytes))
        }
        shown = (now, frames, bytes)
        return true
    }

    /// The line, fitted to a number of columns.
    ///
    /// - Parameters:
    ///   - queue: the used share of the queue before the decoder; nil: there is none.
    ///   - dropped: what was lost before it was decoded, in words; nil: nothing.
    package func line(columns: Int, queue: Double? = nil, dropped: String? = nil) -> String {
        // A line as wide as the terminal would wrap.
        String(text(queue, dropped).prefix(max(0, columns - 1)))
    }

    private func text(_ queue: Double?, _ dropped: String?) -> String {
        var parts = [
            "\(Quantities.grouped(connections - closed)) of \(Quantities.counted(connections, "connection")) open",
            "\(Quantities.grouped(rates.frames)) frames/s", "\(Quantities.size(rates.bytes))/s",
        ]
        // What needs attention comes before what is only informative: the line is truncated at its end.
        if let dropped { parts.append(dropped) }
        if missing > 0 { parts.append("\(Quantities.counted(missing, "byte")) missing") }
        for (kind, count) in findings.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            parts.append(Quantities.counted(count, kind.noun))
        }
        if let queue { parts.append("queue \(Int((min(max(queue, 0), 1) * 100).rounded())) %") }
        return parts.joined(separator: ", ")
    }

    package func opened(_ connection: TracedConnection) { connections += 1 }
    package var bodyLimit: Int { 0 }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        frames += 1
        self.bytes += frame.info.length
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) { missing += gap.byteCount }
    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        bytes += run.byteCount
    }

    package func finding(_ finding: Finding) { findings[finding.kind, default: 0] += finding.occurrences }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        closed += 1
    }
}
