import Framing
import Streams

/// Writes a trace as human-readable text: one aligned line per frame.
///
///     08:00:00.020  #1 →  txt      CinentA → CinentB   5 B  Hello                  merged 1/5
///     time          connection, direction, type, from → to, body's length, body    what is worth noting
///     2026-11-22, after 2026-11-21                     the lines from here on are of another day than the one before
///
/// `→` is from the client, `←` from the server; `●` opened, `○` closed, `⚠` warning, `♥` heartbeat. Columns widen with longer
/// names, and stay wide. Nothing from the network reaches the terminal unless it is printable.
package final class TextWriter: TraceSink {
    // Nothing called while a line is written re-enters the writer, so exclusivity is not checked for each piece.
    @exclusivity(unchecked) var output: BufferedOutput
    let options: TextOptions
    @exclusivity(unchecked) var columns = LineState.Columns()
    @exclusivity(unchecked) var types = TypeTexts()
    /// A piece of the line being written, kept to reuse its memory.
    @exclusivity(unchecked) var piece = TextPiece()
    @exclusivity(unchecked) private var clock: ClockText
    private let showsDays: Bool
    /// The newest line's date, and the quarter of an hour for which it is known.
    @exclusivity(unchecked) private var day: (quarter: Int64, date: String)?
    /// Connections whose opening line waits for the format's name.
    private var unannounced: [ConnectionLeg: Opening] = [:]
    /// The lines about TLS that follow opening lines.
    private var unannouncedTLS: [ConnectionLeg: String] = [:]

    /// A writer to `output`.
    package convenience init(to output: any ByteOutput, options: TextOptions = TextOptions()) {
        self.init(BufferedOutput(output), options)
    }

    /// A writer that leaves what it writes in `output.bytes`.
    convenience init(_ options: TextOptions) {
        self.init(BufferedOutput(MemoryOutput(), limit: .max), options)
    }

    private init(_ output: BufferedOutput, _ options: TextOptions) {
        self.output = output
        self.options = options
        clock = ClockText(options)
        showsDays = options.times == .utc || options.times == .local
    }

    // MARK: Events

    package func opened(_ connection: TracedConnection) {
        unannounced[connection.connectionLeg] = connection.opening
    }

    package func tls(_ facts: TLSFacts, at time: Timestamp, on connection: TracedConnection) {
        let text = PrintableText.of(TLSText.of(facts), columns: 320)
        if unannounced[connection.connectionLeg] != nil {
            unannouncedTLS[connection.connectionLeg] = text
        } else {
            warn(time, connection.connectionLeg, text, .info)
        }
    }

    package func action(_ report: ActionReport, on connection: TracedConnection) {
        let arrow = report.direction == .fromClient ? "→" : "←"
        warn(
            report.time, connection.connectionLeg, PrintableText.of("\(arrow) \(ActionText.of(report))", columns: 200),
            .info)
    }

    package func recognised(_ connection: TracedConnection) {
        announce(connection)
    }

    package func missing(_ gap: Gap, on connection: TracedConnection) {
        let text = "\(Quantities.counted(gap.byteCount, "byte")) missing at offset \(Quantities.grouped(gap.offset))"
        warn(gap.time, connection.connectionLeg, "\(arrow(gap.direction)) \(text)")
    }

    package func dropped(_ gap: Gap, reason: String, on connection: TracedConnection) {
        let text = "\(Quantities.counted(gap.byteCount, "byte")) forwarded but not recorded at offset"
        warn(
            gap.time, connection.connectionLeg,
            "\(arrow(gap.direction)) \(text) \(Quantities.grouped(gap.offset)): \(reason)")
    }

    package func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {
        announce(connection)
        // The beginning of a protocol that is recognised but not framed was already reported.
        if connection.known?.format.isFramed == false, !options.isVerbose { return }
        let place =
            "\(Quantities.counted(run.byteCount, "byte")) unframed at offset \(Quantities.grouped(run.offset))"
        let text = "\(arrow(direction)) \(place), \(run.reason.rawValue): \(run.shownDetail(direction, on: connection))"
        warn(
            run.time, connection.connectionLeg, PrintableText.of(text),
            connection.known?.format.isFramed == false ? .info : .warning
        )
        if options.isVerbose, connection.kinds(of: direction)?.hidesUnframed == true {
            put("      not shown: they may hold secrets (--show-secrets)\n", .faint)
        } else if options.isVerbose {
            put(HexDump.of(run.bytes.span.bytes, limit: options.bodyLimit, label: "      "), .faint)
        }
    }

    package func finding(_ finding: Finding) {
        // A message may quote a name from the network, which may be as long as a head.
        let message = PrintableText.of(finding.message, columns: 240)
        warn(finding.time, ConnectionLeg(finding.connection, finding.leg), message, finding.severity)
    }

    package func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {
        announce(connection)
        start(closing.time, connection.connectionLeg, "○", .faint)
        var text = closing.reason.rawValue
        if let by = closing.by { text += " by \(by.sender)" }
        if let detail = closing.detail { text += ": " + PrintableText.of(detail) }
        put(text)
        for direction in Direction.allCases {
            let bytes = counts[direction]
            let size = Quantities.size(bytes.bytes)
            put("   \(arrow(direction)) ", direction == .fromClient ? .client : .server)
            put("\(Quantities.counted(bytes.frames, "frame")), \(size)")
        }
        output.endLine()
    }

    package func summary(_ summary: Summary) {
        writeSummary(summary)
        flush()
    }

    func writeSummary(_ summary: Summary) {
        SummaryText.lines(summary).forEach { line in
            put(line)
            output.endLine()
        }
    }

    package func flush() {
        output.flush()
    }

    // MARK: Lines

    /// Writes the opening line, once, as late as the format's name allows.
    private func announce(_ connection: TracedConnection) {
        guard let opening = unannounced.removeValue(forKey: connection.connectionLeg) else { return }
        start(opening.time, connection.connectionLeg, "●", .plain)
        let ends = "\(opening.client) → \(opening.server)"
        put(ends)
        let width = columns.type + 1 + (columns.parties > 0 ? columns.parties : 19) + 1 + LineState.Columns.body
        put(pad("", to: width - DisplayWidth.of(ends)) + "  ")
        if let format = connection.format, let choice = connection.choice {
            put("\(format.name) (by \(choice.by.rawValue))\(format.isFramed ? "" : ", not cut into frames")", .faint)
        } else {
            put("format not recognized", .warning)
        }
        var notes: [String] = []
        if !opening.handshake { notes.append("picked up mid-stream") }
        if opening.clientGuessed { notes.append("client guessed") }
        if !notes.isEmpty { put(", " + notes.joined(separator: ", "), .faint) }
        output.endLine()
        if let text = unannouncedTLS.removeValue(forKey: connection.connectionLeg) {
            warn(opening.time, connection.connectionLeg, text, .info)
        }
        if let format = connection.format, !format.isFramed, let choice = connection.choice {
            warn(opening.time, connection.connectionLeg, PrintableText.of(choice.evidence, columns: 320), .info)
        }
    }

    /// Begins a line about what a side sent.
    func start(_ time: Timestamp, _ connection: ConnectionLeg, _ direction: Direction) {
        if direction == .fromClient {
            start(time, connection, "→", .client)
        } else {
            start(time, connection, "←", .server)
        }
    }

    private func start(_ time: Timestamp, _ connection: ConnectionLeg, _ symbol: StaticString, _ style: TextStyle) {
        if clock.update(time), showsDays, let text = changeOfDay(time) {
            put(text, .faint)
            output.endLine()
        }
        let most = clock.bytes.count + columns.number + JSONOutput.longestNumber + 2 * TextStyle.longest + 32
        output.bytes.append(upTo: most) { room in
            begin(.faint, &room)
            room.put(clock.bytes.span.bytes)
            room.put("  ")
            end(.faint, &room)
            let start = room.count
            room.put(UInt8(ascii: "#"))
            JSONOutput.integer(connection.number, into: &room)
            if connection.leg == .out { room.put(" out") }
            let width = room.count - start
            columns.number = max(columns.number, width)
            room.put(spaces: columns.number - width + 1)
            begin(style, &room)
            room.put(symbol)
            end(style, &room)
            room.put("  ")
        }
    }

    private func warn(
        _ time: Timestamp, _ connection: ConnectionLeg, _ text: String, _ severity: Finding.Severity = .warning
    ) {
        let style = severity == .error ? TextStyle.error : .warning
        start(time, connection, severity == .info ? "ℹ" : "⚠", style)
        put(text, style)
        output.endLine()
    }

    /// Says that a line's date is not that of the line before; nil if it is.
    private func changeOfDay(_ time: Timestamp) -> String? {
        let seconds = time.split.seconds
        // Days begin at a quarter of an hour, wherever that is; so do summer and winter time.
        let quarter = (seconds - (seconds < 0 ? 899 : 0)) / 900
        guard day?.quarter != quarter else { return nil }
        let date = String((time + .seconds(Double(clock.offset(at: time)))).rfc3339.prefix(10))
        defer { day = (quarter, date) }
        return day.flatMap { $0.date == date ? nil : "\(date), after \($0.date)" }
    }

    // MARK: Pieces

    private func arrow(_ direction: Direction) -> String { direction == .fromClient ? "→" : "←" }

    @inline(__always)
    func begin(_ style: TextStyle, _ room: inout ByteRoom) {
        if options.isColored { room.put(style.start) }
    }

    @inline(__always)
    func end(_ style: TextStyle, _ room: inout ByteRoom) {
        if options.isColored { room.put(style.end) }
    }

    func put(_ text: String, _ style: TextStyle = .plain) {
        output.bytes.append(contentsOf: style.apply(text, colored: options.isColored).utf8)
    }

    func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
    }
}

extension TextWriter: LineWriter {
    var lines: [UInt8] {
        get { output.bytes }
        _modify { yield &output.bytes }
    }

    var state: LineState? {
        get { LineState(columns: columns, times: clock.times, day: day) }
        set {
            guard let newValue else { return }
            (columns, day) = (newValue.columns, newValue.day)
            clock.resume(after: newValue.times)
        }
    }

    func skip(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        let time = frame.info.time
        clock.resume(after: (clock.times?.first ?? time, time))
        if showsDays { _ = changeOfDay(time) }
        // Its number had its place when the connection was announced.
        columns.type = max(columns.type, typeWidth(frame, bytes, kinds))
        widen(parties(bytes, frame.shape, kinds.format))
    }
}
