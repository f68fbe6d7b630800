import Expressions
import Framing
import Streams

/// Passes on the part of a trace that is wanted; the summary still counts everything.
package final class SelectingSink: TraceSink {
    private let sink: any TraceSink
    private let selection: Selection
    private var framesLeft: Int
    /// Called when as many frames as wanted have been passed on.
    private let whenDone: () -> Void

    /// A sink in front of another one.
    package init(_ selection: Selection, to sink: any TraceSink, whenDone: @escaping () -> Void = {}) {
        self.selection = selection
        self.sink = sink
        self.whenDone = whenDone
        framesLeft = selection.frames ?? .max
    }

    package var takesBothLegs: Bool { selection.legs.map { $0.contains(.out) } ?? sink.takesBothLegs }

    package func opened(_ connection: TracedConnection) {
        if selection.includes(connection) { sink.opened(connection) }
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        if selection.includes(connection.number) { sink.tls(facts, at: time, on: connection) }
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        // What was done is about both legs.
        if selection.includes(connection.number), selection.includes(report.time) {
            sink.action(report, on: connection)
        }
    }

    package func recognised(_ connection: TracedConnection) {
        if selection.includes(connection) { sink.recognised(connection) }
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard includes(connection, frame.info.time), framesLeft > 0 else { return }
        if let condition = selection.condition {
            guard let format = connection.format?.directions[frame.direction] else { return }
            let values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
            guard values.fulfil(condition, content: bytes, shape: frame.shape, format: format) else { return }
        }
        sink.frame(frame, bytes: bytes, on: connection)
        framesLeft -= 1
        if framesLeft == 0 { whenDone() }
    }

    package var bodyLimit: Int { selection.condition?.readsBodies == true ? .max : sink.bodyLimit }

    package func streamed(
        _ part: StreamedPart, bytes: RawSpan, from direction: Direction, on connection: TracedConnection
    ) {
        if selection.includes(connection) {
            sink.streamed(part, bytes: bytes, from: direction, on: connection)
        }
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        if includes(connection, gap.time) { sink.missing(gap, on: connection) }
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        if includes(connection, gap.time) { sink.dropped(gap, reason: reason, on: connection) }
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        if includes(connection, run.time) { sink.unframed(run, from: direction, on: connection) }
    }

    package func finding(_ finding: Finding) {
        if selection.includes(finding.connection), selection.includes(finding.time) { sink.finding(finding) }
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        if selection.includes(connection) { sink.closed(closing, counts: counts, on: connection) }
    }

    package func summary(_ summary: Summary) { sink.summary(summary) }
    package func flush() { sink.flush() }

    private func includes(_ connection: TracedConnection, _ time: Timestamp) -> Bool {
        selection.includes(connection) && selection.includes(time)
    }
}
