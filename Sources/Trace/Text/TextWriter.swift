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
    @exclusivity(unchecked) private var output: BufferedOutput
    private let options: TextOptions
    @exclusivity(unchecked) private var columns = Columns()
    @exclusivity(unchecked) private var types = TypeTexts()
    /// Pieces of the line being written, kept to reuse their memory.
    @exclusivity(unchecked) private var pieces = (size: TextPiece(), preview: TextPiece(), note: TextPiece())
    /// The time that was written last, in whole milliseconds, and its text.
    @exclusivity(unchecked) private var lastClock: (millisecond: Int64, text: [UInt8])?
    private var firstTime: Timestamp?
    private var lastTime: Timestamp?
    /// The date of the line before, and the quarter of an hour for which it is known.
    private var lastDay: (quarter: Int64, date: String)?
    /// Connections whose opening line waits for the format's name.
    private var unannounced: [ConnectionLeg: Opening] = [:]
    /// The lines about TLS that follow opening lines.
    private var unannouncedTLS: [ConnectionLeg: String] = [:]

    /// The widest each column has been, in columns of the terminal, up to a limit.
    private struct Columns {
        var number = 2
        var type = 8
        var parties = 0
        var body = 26

        static let most = (type: 20, parties: 48)
    }

    /// A writer to `output`.
    package init(to output: any ByteOutput, options: TextOptions = TextOptions()) {
        self.output = BufferedOutput(output)
        self.options = options
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

    package var bodyLimit: Int { max(BodyPreview.mostBytes, options.isVerbose ? options.bodyLimit : 0) }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds?[frame.direction] else { return }
        let shape = frame.shape
        start(frame.info.time, connection.connectionLeg, frame.direction)
        type(frame, bytes, kinds)
        if let shown = parties(bytes, shape, kinds.format) {
            columns.parties = max(columns.parties, 19, DisplayWidth.of(shown))
            put(pad(shown, to: columns.parties) + " ")
        } else if columns.parties > 0 {
            space(columns.parties + 1)
        }
        let body = bytes.extracting(shape.head..<shape.head + shape.body)
        pieces.size.removeAll()
        pieces.preview.removeAll()
        pieces.note.removeAll()
        Quantities.grouped(body.byteCount + frame.info.streamed, into: &pieces.size)
        pieces.size.put(ascii: " B")
        notes(frame, into: &pieces.note)
        let room = room(for: pieces.note, behind: pieces.size)
        if kinds.hidesNothing(frame.kind), !frame.isSecret, frame.info.missing == 0 {
            let decoded = frame.body ?? kinds.shownBody(frame.kind, bytes, shape)
            if kinds.hasStructures {
                FieldPreview.add(kinds.format, bytes, shape, columns: room, to: &pieces.preview) { $0 }
            }
            let room = room - pieces.preview.width
            BodyPreview.add(body, decoded, columns: room, to: &pieces.preview)
            if body.byteCount == 0, let names = kinds.format.valueNames(of: bytes, shape) {
                pieces.preview.put(printable: Array(names.utf8).span.bytes, columns: room)
            }
        } else {
            let secrets = FrameSecrets(of: frame, bytes, kinds)
            let shown = secrets.shown(frame.decodedBody(of: bytes, kinds), of: body)
            if kinds.hasStructures {
                FieldPreview.add(kinds.format, bytes, shape, columns: room, to: &pieces.preview) { secrets.shown($0) }
            }
            let room = room - pieces.preview.width
            BodyPreview.add(body, shown, columns: room, to: &pieces.preview)
        }
        put(pieces.size, .faint)
        if !pieces.preview.isEmpty {
            space(2)
            put(pieces.preview, .plain)
        }
        if !pieces.note.isEmpty {
            let used = pieces.size.width + (pieces.preview.isEmpty ? 0 : 2 + pieces.preview.width)
            space(max(0, columns.body - used) + 2)
            put(pieces.note, frame.isHeartbeat ? .heartbeat : .faint)
        }
        output.endLine()
        if options.isVerbose { details(frame, bytes, kinds.format, FrameSecrets(of: frame, bytes, kinds)) }
    }

    private func type(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) {
        let text: TextPiece
        if let kind = frame.kind {
            text = types.text(of: kind, in: kinds, columns: Columns.most.type)
        } else {
            let type = kinds.format.type(of: bytes, frame.shape) ?? "-"
            text = TextPiece(PrintableText.of(type, columns: Columns.most.type))
        }
        columns.type = max(columns.type, text.width)
        put(text, .type, padding: columns.type - text.width + 1)
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
        if connection.format?.isFramed == false, !options.isVerbose { return }
        let place =
            "\(Quantities.counted(run.byteCount, "byte")) unframed at offset \(Quantities.grouped(run.offset))"
        let text = "\(arrow(direction)) \(place), \(run.reason.rawValue): \(run.shownDetail(direction, on: connection))"
        warn(
            run.time, connection.connectionLeg, PrintableText.of(text),
            connection.format?.isFramed == false ? .info : .warning
        )
        if options.isVerbose, connection.kinds?[direction].hidesUnframed == true {
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
        SummaryText.lines(summary).forEach { line in
            put(line)
            output.endLine()
        }
        flush()
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
        let width = columns.type + 1 + (columns.parties > 0 ? columns.parties : 19) + 1 + columns.body
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

    private func start(_ time: Timestamp, _ connection: ConnectionLeg, _ direction: Direction) {
        start(time, connection, arrow(direction), direction == .fromClient ? .client : .server)
    }

    private func start(_ time: Timestamp, _ connection: ConnectionLeg, _ symbol: String, _ style: TextStyle) {
        if options.times == .utc || options.times == .local { date(time) }
        begin(.faint)
        clock(time)
        space(2)
        end(.faint)
        let start = output.bytes.count
        output.bytes.append(UInt8(ascii: "#"))
        JSONOutput.integer(Int64(connection.number), into: &output.bytes)
        if connection.leg == .out { output.bytes.append(contentsOf: " out".utf8) }
        let width = output.bytes.count - start
        columns.number = max(columns.number, width)
        space(columns.number - width + 1)
        begin(style)
        output.bytes.append(contentsOf: symbol.utf8)
        end(style)
        space(2)
    }

    private func warn(
        _ time: Timestamp, _ connection: ConnectionLeg, _ text: String, _ severity: Finding.Severity = .warning
    ) {
        let style = severity == .error ? TextStyle.error : .warning
        start(time, connection, severity == .info ? "ℹ" : "⚠", style)
        put(text, style)
        output.endLine()
    }

    /// Writes a line with the date if it is not that of the line before.
    private func date(_ time: Timestamp) {
        let seconds = time.split.seconds
        // Days begin at a quarter of an hour, wherever that is; so do summer and winter time.
        let quarter = (seconds - (seconds < 0 ? 899 : 0)) / 900
        guard lastDay?.quarter != quarter else { return }
        let date = String((time + .seconds(Double(offset(at: time)))).rfc3339.prefix(10))
        if let lastDay, lastDay.date != date {
            put("\(date), after \(lastDay.date)", .faint)
            output.endLine()
        }
        lastDay = (quarter, date)
    }

    /// How far the times shown are ahead of UTC, in seconds.
    private func offset(at time: Timestamp) -> Int { options.times == .local ? options.utcOffset(time) : 0 }

    private func clock(_ time: Timestamp) {
        let base = firstTime ?? time
        let before = lastTime ?? time
        firstTime = base
        lastTime = time
        switch options.times {
        case .relative: output.bytes.append(contentsOf: relative(time - base).utf8)
        case .delta: output.bytes.append(contentsOf: relative(time - before).utf8)
        case .utc, .local, .date:
            let millisecond = time.nanoseconds / 1_000_000
            if let lastClock, lastClock.millisecond == millisecond, time.nanoseconds > 0 {
                output.bytes.append(contentsOf: lastClock.text.span.bytes)
                return
            }
            let start = output.bytes.count
            if options.times == .date { output.bytes.append(contentsOf: "\(time.rfc3339.prefix(10)) ".utf8) }
            TimestampText.clock(time + .seconds(Double(offset(at: time))), into: &output.bytes)
            lastClock = (millisecond, Array(output.bytes[start...]))
        }
    }

    /// `    3.101000`: seconds with six decimals in the width of a time of day.
    private func relative(_ interval: Interval) -> String {
        let micros = interval.nanoseconds / 1_000
        let digits = String(micros.magnitude % 1_000_000)
        let text =
            "\(micros < 0 ? "-" : "")\(micros.magnitude / 1_000_000)."
            + String(repeating: "0", count: 6 - digits.count) + digits
        return String(repeating: " ", count: max(0, 12 - text.utf8.count)) + text
    }

    // MARK: Pieces

    private func parties(_ bytes: RawSpan, _ shape: FrameShape, _ format: DirectionFormat) -> String? {
        guard format.fromPlace != nil || format.toPlace != nil else { return nil }
        let from = format.origin(of: bytes, shape).map { PrintableText.of($0, columns: 22) } ?? ""
        let to = format.target(of: bytes, shape).map { PrintableText.of($0, columns: 22) } ?? ""
        return to.isEmpty ? from : from.isEmpty ? "→ \(to)" : "\(from) → \(to)"
    }

    private func notes(_ frame: TracedFrame, into note: inout TextPiece) {
        let info = frame.info
        func next(_ note: inout TextPiece) {
            if !note.isEmpty { note.put(ascii: ", ") }
        }
        if frame.isHeartbeat { note.put("♥", columns: 1) }
        if info.segments > 1 {
            next(&note)
            note.put(ascii: "split over ")
            note.put(info.segments)
            note.put(ascii: " segments")
        }
        if info.companions > 1 || info.merged {
            next(&note)
            note.put(ascii: "merged")
        }
        if info.companions > 1 {
            note.put(ascii: " ")
            note.put(info.position)
            note.put(ascii: "/")
            note.put(info.companions)
        }
        if info.missing > 0 {
            next(&note)
            note.put("\(Quantities.counted(info.missing, "byte")) missing")
        }
    }

    /// The columns that a body may take: the terminal's remaining columns, or a fixed width for a pipe.
    private func room(for note: TextPiece, behind size: TextPiece) -> Int {
        guard let limit = options.columns else { return 120 }
        let time = options.times == .date ? 25 : 14
        let before = time + columns.number + 4 + columns.type + 1 + (columns.parties > 0 ? columns.parties + 1 : 0)
        let behind = note.isEmpty ? 0 : note.width + 2
        let most = max(limit - before - behind, columns.body)
        return max(most - size.width - 2, 8)
    }

    private func details(
        _ frame: TracedFrame, _ bytes: RawSpan, _ format: DirectionFormat, _ secrets: FrameSecrets
    ) {
        let shape = frame.shape
        let own = format.fields(of: bytes, shape)
        let fields = secrets.shown(own)
        let head = format.layouts[shape.layout].head as? BinaryHead
        let texts = fields.map {
            let value = head?.shown($0.name, $0.value) ?? PrintableText.of($0.value.shortDescription, columns: 60)
            return "\(PrintableText.of($0.name, columns: 40))=\(value)"
        }
        if !texts.isEmpty { put("      " + texts.joined(separator: "  ") + "\n", .plain) }
        if secrets.mayDumpHead(own) {
            put(HexDump.of(bytes.extracting(0..<shape.head), limit: options.bodyLimit, label: "  head"), .client)
        } else {
            put("  head  not shown: it holds a secret (--show-secrets)\n", .faint)
        }
        let body = bytes.extracting(shape.head..<shape.head + shape.body)
        if secrets.mayDump(frame.decodedBody(of: bytes, format), of: body) {
            let rest = bytes.extracting(shape.head..<bytes.byteCount)
            put(
                HexDump.of(
                    rest, limit: options.bodyLimit, label: "  body", from: shape.head, more: frame.info.streamed),
                .faint)
        } else {
            put("  body  not shown: it may hold secrets (--show-secrets)\n", .faint)
        }
    }

    private func arrow(_ direction: Direction) -> String { direction == .fromClient ? "→" : "←" }

    private func put(_ piece: TextPiece, _ style: TextStyle, padding: Int = 0) {
        begin(style)
        output.bytes.append(contentsOf: piece.bytes.span.bytes)
        space(padding)
        end(style)
    }

    private func space(_ count: Int) {
        guard count > 0 else { return }
        output.bytes.append(addingCapacity: count) { output in
            for _ in 0..<count { output.append(UInt8(ascii: " ")) }
        }
    }

    private func begin(_ style: TextStyle) {
        if options.isColored { output.bytes.append(contentsOf: style.start.utf8) }
    }

    private func end(_ style: TextStyle) {
        if options.isColored { output.bytes.append(contentsOf: style.end.utf8) }
    }

    private func put(_ text: String, _ style: TextStyle = .plain) {
        output.bytes.append(contentsOf: style.apply(text, colored: options.isColored).utf8)
    }

    private func pad(_ text: String, to width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
    }
}
