import Framing
import Streams

/// Turns a trace into values, to be kept, compared, sent or shown.
///
/// The values are those that reading the trace's NDJSON would yield.
package final class EventSink: TraceSink {
    /// At most how many bytes of a decoded body an event has.
    package let bodyLimit: Int
    package var takesBothLegs: Bool { true }
    /// The default for that.
    package static let defaultBodyLimit = 4_096
    private let take: (TraceEvent) -> Void
    private let takeFrame: ((TracedFrame, RawSpan, TracedConnection) -> Void)?
    private let whenFlushed: () -> Void

    /// A sink that begins with the event of a trace's first line.
    ///
    /// - Parameters:
    ///   - source: what is traced: a file's name, `-`, an address.
    ///   - tool: the program and its version.
    ///   - bodyLimit: at most how many bytes of a decoded body an event has.
    ///   - takeFrame: takes each frame instead of `take`, as a sink receives it; nil: frames are events, too.
    ///   - whenFlushed: called when everything that happened so far has been taken, here and by other sinks.
    ///   - take: takes each event, immediately. It must not block: that would block the decoder.
    package init(
        source: String, tool: String, bodyLimit: Int = EventSink.defaultBodyLimit,
        takeFrame: ((TracedFrame, RawSpan, TracedConnection) -> Void)? = nil,
        whenFlushed: @escaping () -> Void = {}, _ take: @escaping (TraceEvent) -> Void
    ) {
        (self.bodyLimit, self.take, self.takeFrame) = (bodyLimit, take, takeFrame)
        self.whenFlushed = whenFlushed
        take(.trace(TraceStart(version: NDJSONWriter.version, source: source, tool: tool)))
    }

    package func opened(_ connection: TracedConnection) { take(.opened(OpenedEvent(connection))) }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        take(.tls(TLSEvent(connection: connection.number, time: time, facts: facts)))
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        take(.action(ActionEvent(report, on: connection)))
    }

    package func recognised(_ connection: TracedConnection) {
        if let format = FormatEvent(connection) { take(.format(format)) }
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        if let takeFrame { return takeFrame(frame, bytes, connection) }
        if let event = FrameEvent(frame, bytes: bytes, on: connection, bodyLimit: bodyLimit) { take(.frame(event)) }
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        take(.missing(RunEvent(gap, on: connection)))
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        take(.dropped(RunEvent(gap, on: connection, reason: reason)))
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        let isHidden = connection.kinds(of: direction)?.hidesUnframed == true
        take(
            .unframed(
                RunEvent(
                    connection: connection.number, leg: connection.leg, from: direction, time: run.time,
                    offset: run.offset,
                    length: run.byteCount, reason: run.reason.rawValue,
                    detail: run.shownDetail(direction, on: connection),
                    hex: isHidden ? "" : JSONOutput.hex(run.bytes.span.bytes))))
    }

    package func finding(_ finding: Finding) { take(.finding(FindingEvent(finding))) }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        take(.closed(ClosedEvent(closing, counts, on: connection)))
    }

    package func summary(_ summary: Summary) { take(.summary(SummaryEvent(summary))) }

    package func flush() { whenFlushed() }
}

extension FrameEvent {
    /// A frame that a sink received, with its fields and its body decoded, and secrets redacted.
    ///
    /// - Parameters:
    ///   - frame: the frame.
    ///   - bytes: the bytes that the sink received with it.
    ///   - connection: its connection; nil is returned if that has no format.
    ///   - bodyLimit: at most how many bytes of the decoded body to take.
    public init?(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection,
        bodyLimit: Int = 4_096
    ) {
        guard let kinds = connection.kinds(of: frame.direction) else { return nil }
        let info = frame.info
        var text: [UInt8] = []
        // Room for a short body, so that it need not grow.
        text.reserveCapacity(960)
        let split = FrameContent.write(frame, bytes, kinds, bodyLimit: bodyLimit, separator: "", into: &text)
        self.init(
            connection: connection.number, leg: connection.leg, from: frame.direction, index: info.index,
            time: info.time,
            started: info.started, offset: info.offset, length: info.length, segments: info.segments,
            merged: info.merged, type: kinds.type(of: frame, bytes), isHeartbeat: frame.isHeartbeat,
            fields: JSONValue(compact: text.span.bytes.extracting(0..<split)),
            body: JSONValue(compact: text.span.bytes.extracting(split..<text.count)))
    }
}

extension JSONOutput {
    /// Bytes in lower-case hex digits, as text.
    fileprivate static func hex(_ raw: RawSpan) -> String {
        var text: [UInt8] = []
        hex(raw, into: &text)
        return String(decoding: text, as: UTF8.self)
    }
}
