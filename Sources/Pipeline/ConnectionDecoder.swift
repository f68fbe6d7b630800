import Analysis
import Framing
import Streams
import Trace

/// Decodes one connection.
final class ConnectionDecoder: ConnectionReceiver {
    private let decoder: Decoder
    private let connection: TracedConnection
    private var framers: PerDirection<Framer>?
    private var detection: Detection?
    private var totals = Summary.Totals()
    private var endsFramesByPauses = false
    /// Where nothing is framed: why.
    private var notDetected: String?
    private var awaitsPause = PerDirection(fromClient: false, fromServer: false)

    init(_ connection: TracedConnection, decoder: Decoder) {
        self.connection = connection
        self.decoder = decoder
        let options = decoder.options
        let port = connection.opening.server.port
        if let format = options.byPort[port] ?? options.lateByPort?(port) {
            start(format, FormatChoice(by: .option, evidence: "asked for on port \(port)"))
            return
        }
        switch options.choice {
        case .fixed(let format): start(format, FormatChoice(by: .option, evidence: "asked for"))
        case .automatic(let formats):
            detection = Detection(
                formats, aligned: connection.opening.handshake, limit: options.detectionLimit,
                port: connection.opening.server.port)
        }
    }

    // MARK: Stream events

    func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {
        if framers != nil {
            framers?[direction].receive(bytes, at: time, packet: packet, scratch: decoder.scratch, into: self)
            if endsFramesByPauses { expectPause(of: direction) }
        } else if let (format, choice) = detection?.receive(bytes, from: direction, at: time, packet: packet) {
            start(format, choice)
        } else if detection?.isExhausted == true {
            giveUpDetection()
        }
    }

    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        if framers != nil {
            framers?[direction].missing(byteCount, at: time, scratch: decoder.scratch, into: self)
        } else if let (format, choice) = detection?.missing(byteCount, from: direction, at: time) {
            start(format, choice)
        }
    }

    func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {
        if case .unrecorded(let offset, let byteCount) = notice {
            let hole = Hole(direction: direction, offset: offset, byteCount: byteCount, time: time)
            decoder.dropped(hole, reason: "recorder too slow", on: connection)
        }
    }

    func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {
        if framers != nil {
            finish(direction, at: time)
        } else if let (format, choice) = detection?.finished(direction, at: time) {
            start(format, choice)
        }
    }

    func closed(_ closing: Closing) {
        if framers == nil { giveUpDetection() }
        for direction in Direction.allCases {
            framers?[direction].finish(scratch: decoder.scratch, into: self)
        }
        decoder.analyse { $0.closed(closing, on: connection, into: &$1) }
        let bytes = PerDirection(
            fromClient: framers?.fromClient.counts ?? ByteCounts(),
            fromServer: framers?.fromServer.counts ?? ByteCounts())
        for sink in decoder.sinks { sink.closed(closing, counts: bytes, on: connection) }
        totals.connections = 1
        totals.bytes.add(bytes.fromClient)
        totals.bytes.add(bytes.fromServer)
        decoder.count(totals, on: connection)
    }

    /// Has the decoder look again when the frame under way may be over, unless it is going to anyway.
    private func expectPause(of direction: Direction) {
        guard !awaitsPause[direction], let deadline = framers?[direction].idleDeadline else { return }
        awaitsPause[direction] = true
        decoder.expectPause(of: self, number: connection.number, at: deadline)
    }

    /// Ends the frames whose sender has been silent for too long.
    func pause(until time: Timestamp) {
        for direction in Direction.allCases where awaitsPause[direction] {
            framers?[direction].pause(until: time, scratch: decoder.scratch, into: self)
            awaitsPause[direction] = false
            expectPause(of: direction)
        }
    }

    private func finish(_ direction: Direction, at time: Timestamp) {
        framers?[direction].finish(scratch: decoder.scratch, into: self)
        decoder.analyse { $0.finished(direction, at: time, on: connection, into: &$1) }
    }

    // MARK: Formats

    private func start(_ format: Format, _ choice: FormatChoice) {
        connection.recognise(format, choice)
        if !format.isFramed { notDetected = (format.directions.fromClient.rule as? Unrecognised)?.detail }
        begin(
            PerDirection(fromClient: format.directions.fromClient.rule, fromServer: format.directions.fromServer.rule))
    }

    /// Goes by the port where the bytes said nothing, else takes every byte as unframed.
    private func giveUpDetection() {
        if let (format, choice) = detection?.conclude() {
            start(format, choice)
            return
        }
        if case .automatic(let formats) = decoder.options.choice {
            let port = connection.opening.server.port
            if let format = formats.first(where: { $0.ports.contains(port) }) {
                start(format, FormatChoice(by: .port, evidence: "server port \(port)"))
                return
            }
        }
        let detail = "no known format in \(detection?.extent ?? "the stream")"
        let rule = Unrecognised(detail: detail)
        notDetected = detail
        begin(PerDirection(fromClient: rule, fromServer: rule))
    }

    /// Begins to frame, with what was held until now.
    private func begin(_ rules: PerDirection<any FramingRule>) {
        let aligned = connection.opening.handshake
        framers = PerDirection(
            fromClient: Framer(rule: rules.fromClient, direction: .fromClient, aligned: aligned),
            fromServer: Framer(rule: rules.fromServer, direction: .fromServer, aligned: aligned))
        endsFramesByPauses = rules.fromClient.idle != nil || rules.fromServer.idle != nil
        decoder.recognised(connection)
        let held = detection?.held ?? []
        detection = nil
        for event in held {
            switch event {
            case .received(let bytes, let direction, let time, let packet):
                received(bytes.span.bytes, from: direction, at: time, packet: packet)
            case .missing(let byteCount, let direction, let time):
                missing(byteCount, from: direction, at: time)
            case .finished(let direction, let time):
                finish(direction, at: time)
            }
        }
    }
}

extension ConnectionDecoder: FrameReceiver {
    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        guard let format = connection.format else { return }
        if frame.segments > 1 { totals.split += 1 }
        if frame.merged { totals.merged += 1 }
        let side = format.directions[direction]
        side.withContent(of: bytes, frame.shape) { content, shape in
            var traced = TracedFrame(info: frame, shape: shape, direction: direction, isHeartbeat: false)
            if !side.body.isPlain { traced.body = traced.decodedBody(of: content, side) }
            if let contract = format.heartbeat {
                var values = FrameValues(info: frame, direction: direction)
                values.body = traced.body
                traced.isHeartbeat = values.fulfil(contract.condition, content: content, shape: shape, format: side)
                if traced.isHeartbeat { totals.heartbeats += 1 }
            }
            decoder.analyse { $0.frame(traced, bytes: content, on: connection, into: &$1) }
            for sink in decoder.sinks { sink.frame(traced, bytes: content, on: connection) }
        }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        var run = run
        // Where no frame is looked for, neither the stream's start nor a hole is why bytes belong to none.
        if let notDetected { (run.reason, run.detail) = (.notDetected, notDetected) }
        for sink in decoder.sinks { sink.unframed(run, from: direction, on: connection) }
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        let hole = Hole(direction: direction, offset: offset, byteCount: byteCount, time: time)
        for sink in decoder.sinks { sink.missing(hole, on: connection) }
    }
}
