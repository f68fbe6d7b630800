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
    /// The beginning of the last frame's line, and its times.
    @exclusivity(unchecked) private var beginning = (
        connection: ConnectionLeg(0), direction: Direction.fromClient, text: [UInt8]()
    )
    @exclusivity(unchecked) private var lastExtent = (length: -1, isMerged: false, text: [UInt8]())
    @exclusivity(unchecked) private var lastTimes = (
        time: Timestamp(nanoseconds: 0), started: Timestamp(nanoseconds: 0), text: [UInt8]()
    )

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
        guard let kinds = connection.kinds?[frame.direction] else { return }
        write(frame, bytes, kinds, of: connection.connectionLeg)
    }

    /// Writes a frame's line.
    func write(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, of connection: ConnectionLeg) {
        let info = frame.info
        beginFrame(info.index, connection, frame.direction)
        times(info.time, info.started, before: info.offset)
        extent(info.length, info.segments, info.merged)
        kinds.writeType(frame.kind, bytes, frame.shape, into: &output.bytes)
        if frame.isHeartbeat { put(",\"heartbeat\":true,\"fields\":") } else { put(",\"heartbeat\":false,\"fields\":") }
        _ = FrameContent.write(
            frame, bytes, kinds, bodyLimit: bodyLimit, separator: ",\"body\":", into: &output.bytes)
        end()
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
        because(run.reason.rawValue, run.detail)
        put(",\"hex\":\"")
        if connection.kinds?[direction].hidesUnframed != true { hex(run.bytes.span.bytes) }
        put("\"")
        end()
    }

    package func finding(_ finding: Finding) { write(.finding(FindingEvent(finding))) }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        write(.closed(ClosedEvent(closing, counts, on: connection)))
    }

    package func summary(_ summary: Summary) {
        write(.summary(SummaryEvent(summary)))
        flush()
    }

    package func flush() {
        output.flush()
    }

    // MARK: Frames

    /// Writes the beginning of a frame's line, its index included. Often many frames of a side follow one another.
    func beginFrame(_ index: Int, _ connection: ConnectionLeg, _ direction: Direction) {
        if beginning.connection != connection || beginning.direction != direction {
            let start = output.bytes.count
            begin("frame", connection.number)
            from(direction, connection.leg)
            put(",\"index\":")
            (beginning.connection, beginning.direction) = (connection, direction)
            beginning.text.replaceAll(with: output.bytes[start...])
            number(index)
        } else {
            put(beginning.text, then: index)
        }
    }

    /// Writes text that was written before, and a number behind it.
    @inline(__always)
    private func put(_ text: [UInt8], then value: Int) {
        if value >= 0 {
            text.withUnsafeBytes { JSONOutput.decimal(UInt64(value), after: $0, into: &output.bytes) }
        } else {
            output.bytes.append(contentsOf: text.span.bytes)
            number(value)
        }
    }

    /// Writes a frame's times, and its offset. Many frames have the same times.
    func times(_ time: Timestamp, _ started: Timestamp, before offset: Int) {
        if lastTimes.time == time, lastTimes.started == started, !lastTimes.text.isEmpty {
            return put(lastTimes.text, then: offset)
        }
        let start = output.bytes.count
        self.time(time)
        put(",\"started\":\"")
        timestamps.rfc3339(started, into: &output.bytes)
        put("\",\"offset\":")
        (lastTimes.time, lastTimes.started) = (time, started)
        lastTimes.text.replaceAll(with: output.bytes[start...])
        number(offset)
    }

    /// Writes a frame's length and segmentation, up to its type. Many unsplit frames are alike.
    func extent(_ length: Int, _ segments: Int, _ isMerged: Bool) {
        if segments == 1, lastExtent.length == length, lastExtent.isMerged == isMerged {
            let text = lastExtent.text
            output.bytes.append(contentsOf: text.span.bytes)
            return
        }
        let start = output.bytes.count
        put(",\"length\":")
        number(length)
        put(",\"segments\":")
        number(segments)
        if isMerged { put(",\"merged\":true,\"type\":") } else { put(",\"merged\":false,\"type\":") }
        if segments == 1 {
            (lastExtent.length, lastExtent.isMerged) = (length, isMerged)
            lastExtent.text.replaceAll(with: output.bytes[start...])
        }
    }
}

extension [UInt8] {
    /// Replaces all bytes, in the memory that there is.
    fileprivate mutating func replaceAll(with bytes: ArraySlice<UInt8>) {
        removeAll(keepingCapacity: true)
        append(contentsOf: bytes)
    }
}
