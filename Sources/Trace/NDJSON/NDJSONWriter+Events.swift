import Framing
import Streams

/// Events as lines.
extension NDJSONWriter {
    /// Writes an event's line, which `TraceReader` reads back as the same event.
    package func write(_ event: TraceEvent) {
        switch event {
        case .trace(let start): write(start)
        case .opened(let opened): write(opened)
        case .tls(let tls): write(tls)
        case .format(let format): write(format)
        case .frame(let frame): write(frame)
        case .missing(let run):
            begin("missing", run)
            end()
        case .dropped(let run):
            begin("dropped", run)
            member(",\"reason\":", run.reason)
            end()
        case .unframed(let run):
            begin("unframed", run)
            because(run.reason, run.detail)
            member(",\"hex\":", run.hex)
            end()
        case .finding(let finding): write(finding)
        case .action(let action): write("action", action.connection, action.members)
        case .closed(let closed): write(closed)
        case .summary(let summary): write(summary)
        }
    }

    private func write(_ start: TraceStart) {
        begin("trace")
        put("\",\"version\":")
        number(start.version)
        member(",\"source\":", start.source)
        member(",\"tool\":", start.tool)
        unwritten(start.unwritten)
        end()
    }

    private func write(_ opened: OpenedEvent) {
        begin("opened", opened.connection)
        self.leg(opened.leg)
        time(opened.time)
        member(",\"transport\":", opened.transport)
        member(",\"client\":", opened.client)
        member(",\"server\":", opened.server)
        put(",\"handshake\":")
        boolean(opened.handshake)
        put(",\"clientGuessed\":")
        boolean(opened.clientGuessed)
        end()
    }

    private func write(_ tls: TLSEvent) {
        write("tls", tls.connection, [JSONValue.Member("time", .text(tls.time.rfc3339Text))] + tls.members)
    }

    /// A line of few, whose members are values.
    private func write(_ event: StaticString, _ connection: Int, _ members: [JSONValue.Member]) {
        begin(event, connection)
        for part in members {
            put(",")
            string(part.name)
            put(":")
            value(part.value)
        }
        end()
    }

    private func write(_ format: FormatEvent) {
        begin("format", format.connection)
        leg(format.leg)
        member(",\"format\":", format.format)
        member(",\"by\":", format.by)
        member(",\"evidence\":", format.evidence)
        end()
    }

    private func write(_ frame: FrameEvent) {
        beginFrame(frame, ConnectionLeg(frame.connection, frame.leg), frame.from)
        value(frame.type.map { .text($0) } ?? .null)
        put(",\"heartbeat\":")
        boolean(frame.isHeartbeat)
        put(",\"fields\":")
        value(frame.fields)
        put(",\"body\":")
        value(frame.body)
        end()
    }

    private func begin(_ event: StaticString, _ run: RunEvent) {
        begin(event, run.connection)
        from(run.from, run.leg)
        time(run.time)
        place(run.offset, run.length)
    }

    private func write(_ finding: FindingEvent) {
        begin("finding", finding.connection)
        from(finding.from, finding.leg)
        time(finding.time)
        member(",\"kind\":", finding.kind)
        member(",\"severity\":", finding.severity)
        member(",\"message\":", finding.message)
        put(",\"data\":")
        value(finding.data)
        end()
    }

    private func write(_ closed: ClosedEvent) {
        begin("closed", closed.connection)
        leg(closed.leg)
        time(closed.time)
        member(",\"reason\":", closed.reason)
        put(",\"by\":")
        value(closed.by.map { .text($0.sender) } ?? .null)
        for direction in Direction.allCases {
            let counts = closed.counts[direction]
            if direction == .fromClient { put(",\"client\":{\"bytes\":") } else { put(",\"server\":{\"bytes\":") }
            number(counts.bytes)
            totals(counts)
            put(",\"frames\":")
            number(counts.frames)
            put("}")
        }
        end()
    }

    private func write(_ summary: SummaryEvent) {
        begin("summary")
        put("\",\"connections\":")
        number(summary.connections)
        put(",\"frames\":")
        number(summary.bytes.frames)
        put(",\"bytes\":")
        number(summary.bytes.bytes)
        totals(summary.bytes)
        put(",\"dropped\":")
        number(summary.dropped)
        put(",\"split\":")
        number(summary.split)
        put(",\"merged\":")
        number(summary.merged)
        put(",\"heartbeats\":")
        number(summary.heartbeats)
        put(",\"findings\":")
        counts(summary.findings)
        if let out = summary.passedOn {
            put(",\"out\":{\"frames\":")
            number(out.frames)
            put(",\"bytes\":")
            number(out.bytes)
            totals(out)
            put("}")
        }
        if summary.unrecorded > 0 {
            put(",\"unrecorded\":")
            number(summary.unrecorded)
        }
        unwritten(summary.unwritten)
        if !summary.skipped.isEmpty {
            put(",\"skipped\":")
            counts(summary.skipped)
        }
        end()
    }

    private func unwritten(_ lines: Int) {
        guard lines > 0 else { return }
        put(",\"unwritten\":")
        number(lines)
    }

    private func counts(_ counts: [SummaryEvent.Count]) {
        value(.object(counts.map { JSONValue.Member($0.kind, .number(String($0.count))) }))
    }
}
