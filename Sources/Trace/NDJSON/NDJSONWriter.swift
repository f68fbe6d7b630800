import Framing
import Streams

/// Writes a trace as NDJSON: one compact JSON object per line, keys in a fixed order (`docs/trace.md`, `docs/trace.schema.json`).
package final class NDJSONWriter: TraceSink {
    /// The version of the trace format.
    package static let version = 2
    /// The oldest version that is read.
    package static let oldestVersion = 1

    // Nothing called while a line is written re-enters the writer, so exclusivity is not checked for each piece.
    @exclusivity(unchecked) var output: BufferedOutput
    @exclusivity(unchecked) var timestamps = TimestampText()
    package let bodyLimit: Int
    package var takesBothLegs: Bool { true }

    /// A writer that begins with the `trace` line.
    ///
    /// - Parameters:
    ///   - source: what is traced: a file's name, `-`, an address.
    ///   - tool: the program and its version.
    ///   - bodyLimit: at most how many bytes of a decoded body are shown.
    package init(to output: any ByteOutput, source: String, tool: String, bodyLimit: Int = 4_096) {
        self.output = BufferedOutput(output)
        self.bodyLimit = bodyLimit
        write(.trace(TraceStart(version: Self.version, source: source, tool: tool)))
    }

    /// A writer of events: see `write`.
    package init(to output: any ByteOutput) {
        self.output = BufferedOutput(output)
        bodyLimit = 0
    }

    /// A writer that begins with the `trace` line, and leaves what it writes in `output.bytes`.
    convenience init(source: String, tool: String, bodyLimit: Int) {
        self.init(bodyLimit: bodyLimit)
        write(.trace(TraceStart(version: Self.version, source: source, tool: tool)))
    }

    /// A writer that leaves what it writes in `output.bytes`.
    init(bodyLimit: Int) {
        output = BufferedOutput(MemoryOutput(), limit: .max)
        self.bodyLimit = bodyLimit
    }

    // MARK: Events

    package func opened(_ connection: TracedConnection) {
        write(.opened(OpenedEvent(connection)))
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        write(.action(ActionEvent(report, on: connection)))
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        write(.tls(TLSEvent(connection: connection.number, time: time, facts: facts)))
    }

    package func recognised(_ connection: TracedConnection) {
        if let format = FormatEvent(connection) { write(.format(format)) }
    }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        write(frame, bytes, kinds, of: connection.connectionLeg)
    }

    /// Writes a frame's line.
    func write(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, of connection: ConnectionLeg) {
        let plain = PlainContent(of: frame, kinds, bodyLimit: bodyLimit)
        if let plain, write(plain, frame, bytes, kinds, of: connection) { return }
        beginFrame(frame.info, connection, frame.direction)
        kinds.writeType(frame.kind, bytes, frame.shape, into: &output.bytes)
        put(Self.heartbeat(frame))
        _ = FrameContent.write(
            frame, bytes, kinds, bodyLimit: bodyLimit, separator: ",\"body\":", triesPlain: plain == nil,
            into: &output.bytes)
        end()
    }

    /// Writes a frame's line at once.
    ///
    /// - Returns: whether its body is a message; if not, nothing is written.
    private func write(
        _ content: PlainContent, _ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds,
        of connection: ConnectionLeg
    ) -> Bool {
        var isWritten = false
        output.bytes.append(upTo: Self.longestBeginning + content.room + Self.longestBetween) { room in
            beginFrame(frame.info, connection, frame.direction, into: &room)
            kinds.writeType(content.kind, into: &room)
            room.put(Self.heartbeat(frame))
            isWritten = PlainContent.write(
                bytes, frame.shape, kinds, bodyLimit: bodyLimit, separator: ",\"body\":", into: &room)
            if isWritten { room.put("}\n") } else { room.takeBack(to: 0) }
        }
        if isWritten { output.flushIfFull() }
        return isWritten
    }

    /// What is between the parts of a plain frame's line, and after them, has less than this.
    private static let longestBetween = 64

    @inline(__always)
    private static func heartbeat(_ frame: TracedFrame) -> StaticString {
        frame.isHeartbeat ? ",\"heartbeat\":true,\"fields\":" : ",\"heartbeat\":false,\"fields\":"
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        write(.missing(RunEvent(gap, on: connection)))
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        write(.dropped(RunEvent(gap, on: connection, reason: reason)))
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        begin("unframed", connection.number)
        from(direction, connection.leg)
        time(run.time)
        place(run.offset, run.byteCount)
        because(run.reason.rawValue, run.shownDetail(direction, on: connection))
        put(",\"hex\":\"")
        if connection.kinds(of: direction)?.hidesUnframed != true { hex(run.bytes.span.bytes) }
        put("\"")
        end()
    }

    package func finding(_ finding: Finding) { write(.finding(FindingEvent(finding))) }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        write(.closed(ClosedEvent(closing, counts, on: connection)))
    }

    package func summary(_ summary: Summary) {
        // What waits may be discarded, too.
        flush()
        var event = SummaryEvent(summary)
        event.unwritten = output.discarded
        write(.summary(event))
        flush()
    }

    package func flush() {
        output.flush()
    }

    // MARK: Frames

    /// Writes a frame's line up to its type.
    func beginFrame(_ place: some FramePlace, _ connection: ConnectionLeg, _ direction: Direction) {
        output.bytes.append(upTo: Self.longestBeginning) { beginFrame(place, connection, direction, into: &$0) }
    }

    /// A frame's line has less than this up to its type.
    private static var longestBeginning: Int { 256 + 5 * JSONOutput.longestNumber }

    /// The same, where there is room for `longestBeginning`.
    @inline(__always)
    private func beginFrame(
        _ place: some FramePlace, _ connection: ConnectionLeg, _ direction: Direction, into room: inout ByteRoom
    ) {
        room.put("{\"event\":\"frame\",\"connection\":")
        JSONOutput.integer(connection.number, into: &room)
        if direction == .fromClient { room.put(",\"from\":\"client\"") } else { room.put(",\"from\":\"server\"") }
        switch connection.leg {
        case .in: room.put(",\"leg\":\"in\"")
        case .out: room.put(",\"leg\":\"out\"")
        case nil: break
        }
        room.put(",\"index\":")
        JSONOutput.integer(place.index, into: &room)
        room.put(",\"time\":\"")
        timestamps.rfc3339(place.time, into: &room)
        room.put("\",\"started\":\"")
        timestamps.rfc3339(place.started, into: &room)
        room.put("\",\"offset\":")
        JSONOutput.integer(place.offset, into: &room)
        room.put(",\"length\":")
        JSONOutput.integer(place.length, into: &room)
        room.put(",\"segments\":")
        JSONOutput.integer(place.segments, into: &room)
        if place.merged {
            room.put(",\"merged\":true,\"type\":")
        } else {
            room.put(",\"merged\":false,\"type\":")
        }
    }
}

/// Where a frame is, and when it was seen: as decoded, or as an event of a trace.
protocol FramePlace {
    var index: Int { get }
    var offset: Int { get }
    var length: Int { get }
    var segments: Int { get }
    var merged: Bool { get }
    var time: Timestamp { get }
    var started: Timestamp { get }
}

extension FrameInfo: FramePlace {}
extension FrameEvent: FramePlace {}

extension NDJSONWriter: LineWriter {
    var lines: [UInt8] {
        get { output.bytes }
        _modify { yield &output.bytes }
    }

    /// No line depends on others.
    var state: LineState? {
        get { nil }
        set {}
    }

    func skip(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}

    func writeSummary(_ summary: Summary) { write(.summary(SummaryEvent(summary))) }
}
