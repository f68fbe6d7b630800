import Framing
import Streams

/// The lines of frames.
extension TextWriter {
    package var bodyLimit: Int { options.longestBody }

    package func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {
        guard let kinds = connection.kinds(of: frame.direction) else { return }
        write(frame, bytes, kinds, of: connection.connectionLeg)
    }

    /// Writes a frame's line.
    func write(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, of connection: ConnectionLeg) {
        start(frame.info.time, connection, frame.direction)
        type(frame, bytes, kinds)
        let shown = parties(bytes, frame.shape, kinds.format)
        widen(shown)
        if let shown {
            put(pad(shown, to: columns.parties) + " ")
        } else if columns.parties > 0 {
            put(pad("", to: columns.parties + 1))
        }
        let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
        let size = body.byteCount + frame.info.streamed
        let room = room(for: frame, after: size)
        if !putMessage(frame, body, kinds, columns: room) {
            piece.removeAll()
            preview(frame, bytes, body, kinds, columns: room)
            putContent(frame, size, upTo: piece.bytes.count) { room in
                room.put(piece.bytes.span.bytes)
                return piece.width
            }
        }
        output.flushIfFull()
        if options.isVerbose { details(frame, bytes, kinds.format, FrameSecrets(of: frame, bytes, kinds)) }
    }

    private func type(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) {
        withType(frame, bytes, kinds) { putType($0) }
    }

    /// How many columns a frame's type takes.
    func typeWidth(_ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds) -> Int {
        var width = 0
        withType(frame, bytes, kinds) { width = $0.width }
        return width
    }

    @inline(__always)
    private func withType(
        _ frame: TracedFrame, _ bytes: RawSpan, _ kinds: FrameKinds, _ use: (borrowing TextPiece) -> Void
    ) {
        if let kind = frame.kind {
            types.withText(of: kind, in: kinds, columns: LineState.Columns.most.type, use)
        } else {
            let type = kinds.format.type(of: bytes, frame.shape) ?? "-"
            use(TextPiece(PrintableText.of(type, columns: LineState.Columns.most.type)))
        }
    }

    @inline(__always)
    private func putType(_ text: borrowing TextPiece) {
        columns.type = max(columns.type, text.width)
        output.bytes.append(upTo: text.bytes.count + columns.type + TextStyle.longest + 16) { room in
            begin(.type, &room)
            room.put(text.bytes.span.bytes)
            room.put(spaces: columns.type - text.width + 1)
            end(.type, &room)
        }
    }

    /// A frame's source and target as they are shown; nil if the format names neither.
    func parties(_ bytes: RawSpan, _ shape: FrameShape, _ format: DirectionFormat) -> String? {
        guard format.fromPlace != nil || format.toPlace != nil else { return nil }
        let from = format.origin(of: bytes, shape).map { PrintableText.of($0, columns: 22) } ?? ""
        let to = format.target(of: bytes, shape).map { PrintableText.of($0, columns: 22) } ?? ""
        return to.isEmpty ? from : from.isEmpty ? "→ \(to)" : "\(from) → \(to)"
    }

    /// Makes room for a frame's source and target.
    func widen(_ parties: String?) {
        if let parties { columns.parties = max(columns.parties, 19, DisplayWidth.of(parties)) }
    }

    /// Puts what is worth noting of a frame.
    ///
    /// - Returns: how many columns it takes.
    private func putNotes(_ frame: TracedFrame, into room: inout ByteRoom) -> Int {
        let info = frame.info
        let start = room.count
        if frame.isHeartbeat { room.put("♥") }
        if info.segments > 1 {
            if room.count > start { room.put(", ") }
            room.put("split over ")
            JSONOutput.integer(info.segments, into: &room)
            room.put(" segments")
        }
        if info.companions > 1 || info.merged {
            if room.count > start { room.put(", ") }
            room.put("merged")
        }
        if info.companions > 1 {
            room.put(" ")
            JSONOutput.integer(info.position, into: &room)
            room.put("/")
            JSONOutput.integer(info.companions, into: &room)
        }
        if info.missing > 0 {
            if room.count > start { room.put(", ") }
            Quantities.grouped(info.missing, into: &room)
            room.put(info.missing == 1 ? " byte missing" : " bytes missing")
        }
        return room.count - start - (frame.isHeartbeat ? "♥".utf8.count - 1 : 0)
    }

    /// How many bytes they take at most.
    private static let longestNotes = 64 + 5 * JSONOutput.longestNumber

    /// The columns that a body may take: the terminal's remaining columns, or a fixed width for a pipe.
    private func room(for frame: TracedFrame, after size: Int) -> Int {
        guard let limit = options.columns else { return 120 }
        var (scratch, notes): ([UInt8], Int) = ([], 0)
        scratch.append(upTo: Self.longestNotes) { notes = putNotes(frame, into: &$0) }
        let time = options.times == .date ? 25 : 14
        let before = time + columns.number + 4 + columns.type + 1 + (columns.parties > 0 ? columns.parties + 1 : 0)
        let most = max(limit - before - (notes == 0 ? 0 : notes + 2), LineState.Columns.body)
        return max(most - Quantities.grouped(size).utf8.count - 4, 8)
    }

    /// Adds what a frame says to the piece.
    private func preview(
        _ frame: TracedFrame, _ bytes: RawSpan, _ body: RawSpan, _ kinds: FrameKinds, columns: Int
    ) {
        let shape = frame.shape
        if kinds.hidesNothing(frame.kind), !frame.isSecret, frame.info.missing == 0 {
            let decoded = frame.body ?? kinds.shownBody(frame.kind, bytes, shape)
            if kinds.hasStructures {
                FieldPreview.add(kinds.format, bytes, shape, columns: columns, to: &piece) { $0 }
            }
            let columns = columns - piece.width
            BodyPreview.add(body, decoded, columns: columns, to: &piece)
            if body.byteCount == 0, let names = kinds.format.valueNames(of: bytes, shape) {
                piece.put(printable: Array(names.utf8).span.bytes, columns: columns)
            }
        } else {
            let secrets = FrameSecrets(of: frame, bytes, kinds)
            let shown = secrets.shown(frame.decodedBody(of: bytes, kinds), of: body)
            if kinds.hasStructures {
                FieldPreview.add(kinds.format, bytes, shape, columns: columns, to: &piece) {
                    secrets.shown($0)
                }
            }
            BodyPreview.add(body, shown, columns: columns - piece.width, to: &piece)
        }
    }

    /// Ends the line of a frame whose body is a Protobuf message that needs no decoder, if that is ASCII and has no secrets.
    ///
    /// - Returns: whether it is; if not, nothing is written.
    private func putMessage(_ frame: TracedFrame, _ body: RawSpan, _ kinds: FrameKinds, columns: Int) -> Bool {
        guard !frame.isSecret, frame.info.missing == 0, frame.info.streamed == 0, frame.body == nil,
            !kinds.hasStructures, body.byteCount <= Self.longestMessage,
            let most = kinds.roomForMessage(frame.kind, body.byteCount),
            let secrets = kinds.secretsOfBody(frame.kind)
        else { return false }
        return putContent(frame, body.byteCount, upTo: most) { room in
            let start = room.count
            guard kinds.writeMessage(body, into: &room) else { return nil }
            let length = room.count - start
            let isShown = room.withBytes(from: start) { json in
                json.extracting(0..<min(length, columns + 1)).isPrintableASCII
                    && (secrets.isEmpty || !DecodedBody.mayHide(secrets, inMessage: json))
            }
            guard isShown, columns > 0 else { return nil }
            if length <= columns { return length }
            room.takeBack(to: start + columns - 1)
            room.put("…")
            return columns
        }
    }

    /// Longer messages are not worth the memory that all of one takes: only its beginning is shown.
    private static let longestMessage = 1_024

    /// Ends the line of a frame: the body's length, its preview, the notes.
    ///
    /// - Parameters:
    ///   - most: how many bytes the preview takes at most.
    ///   - putPreview: puts it, and returns how many columns it takes; nil if it cannot.
    /// - Returns: whether it could; if not, nothing is written.
    @inline(__always)
    @discardableResult
    private func putContent(
        _ frame: TracedFrame, _ size: Int, upTo most: Int, _ putPreview: (inout ByteRoom) -> Int?
    ) -> Bool {
        var isPut = false
        let fixed = 2 * JSONOutput.longestNumber + 2 * TextStyle.longest + LineState.Columns.body + 32
        output.bytes.append(upTo: fixed + most + Self.longestNotes) { room in
            begin(.faint, &room)
            var width = room.count
            Quantities.grouped(size, into: &room)
            room.put(" B")
            width = room.count - width
            end(.faint, &room)
            let beforeGap = room.count
            room.put("  ")
            guard let preview = putPreview(&room) else { return room.takeBack(to: 0) }
            if preview > 0 { width += 2 + preview } else { room.takeBack(to: beforeGap) }
            let beforeNotes = room.count
            let style = frame.isHeartbeat ? TextStyle.heartbeat : .faint
            room.put(spaces: max(0, LineState.Columns.body - width) + 2)
            begin(style, &room)
            if putNotes(frame, into: &room) > 0 { end(style, &room) } else { room.takeBack(to: beforeNotes) }
            room.put("\n")
            isPut = true
        }
        return isPut
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
}
