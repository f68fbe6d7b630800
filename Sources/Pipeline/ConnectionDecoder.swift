import Analysis
import Framing
import Streams
import Trace

/// Decodes one connection.
final class ConnectionDecoder: ConnectionReceiver {
    private let decoder: Decoder
    private let connection: TracedConnection
    private var plan: FormatPlan?
    private var framers: PerDirection<Framer>?
    private var counts = PerDirection(fromClient: FrameSieve.Counts(), fromServer: FrameSieve.Counts())
    private var detection: Detection?
    private var awaitsPause = PerDirection(fromClient: false, fromServer: false)

    init(_ connection: TracedConnection, decoder: Decoder) {
        self.connection = connection
        self.decoder = decoder
        let options = decoder.options
        let port = connection.opening.server.port
        if let plan = decoder.plan(forPort: port) {
            start(plan, FormatChoice(by: .option, evidence: "asked for on port \(port)"))
            return
        }
        switch options.choice {
        case .fixed(let format):
            start(decoder.plan(for: format), FormatChoice(by: .option, evidence: "asked for"))
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
            if plan?.endsFramesByPauses == true { expectPause(of: direction) }
        } else if let (format, choice) = detection?.receive(bytes, from: direction, at: time, packet: packet) {
            start(decoder.plan(for: format), choice)
        } else if detection?.isExhausted == true {
            giveUpDetection()
        }
    }

    func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {
        if framers != nil {
            framers?[direction].missing(byteCount, at: time, scratch: decoder.scratch, into: self)
        } else if let (format, choice) = detection?.missing(byteCount, from: direction, at: time) {
            start(decoder.plan(for: format), choice)
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
            start(decoder.plan(for: format), choice)
        }
    }

    func closed(_ closing: Closing) {
        if framers == nil { giveUpDetection() }
        for direction in Direction.allCases {
            framers?[direction].finish(scratch: decoder.scratch, into: self)
        }
        let bytes = PerDirection(
            fromClient: framers?.fromClient.counts ?? ByteCounts(),
            fromServer: framers?.fromServer.counts ?? ByteCounts())
        connection.faults = PerDirection(fromClient: counts.fromClient.faults, fromServer: counts.fromServer.faults)
        decoder.analyse { $0.closed(closing, on: connection, into: &$1) }
        for sink in decoder.sinks { sink.closed(closing, counts: bytes, on: connection) }
        var totals = Summary.Totals()
        totals.connections = 1
        for direction in Direction.allCases {
            totals.bytes.add(bytes[direction])
            totals.split += counts[direction].split
            totals.merged += counts[direction].merged
            totals.heartbeats += counts[direction].heartbeats
        }
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

    private func start(_ plan: FormatPlan, _ choice: FormatChoice) {
        connection.recognise(plan.format, choice)
        connection.kinds = plan.kinds
        self.plan = plan
        begin(plan.rules)
    }

    /// Goes by the port where the bytes said nothing, else takes every byte as unframed.
    private func giveUpDetection() {
        if let (format, choice) = detection?.conclude() {
            start(decoder.plan(for: format), choice)
            return
        }
        if case .automatic(let formats) = decoder.options.choice {
            let port = connection.opening.server.port
            if let format = formats.first(where: { $0.ports.contains(port) }) {
                start(decoder.plan(for: format), FormatChoice(by: .port, evidence: "server port \(port)"))
                return
            }
        }
        let rule = Unrecognised(detail: "no known format in \(detection?.extent ?? "the stream")")
        begin(PerDirection(fromClient: rule, fromServer: rule))
    }

    /// Begins to frame, with what was held until now.
    private func begin(_ rules: PerDirection<any FramingRule>) {
        let aligned = connection.opening.handshake
        framers = PerDirection(
            fromClient: Framer(rule: rules.fromClient, direction: .fromClient, aligned: aligned),
            fromServer: Framer(rule: rules.fromServer, direction: .fromServer, aligned: aligned))
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
    func framed(_ frames: FrameBatch, in bytes: RawSpan, from direction: Direction) {
        guard let plan else { return }
        var picks: [FrameSieve.Pick] = []
        swap(&picks, &decoder.picks)
        let sieve = plan.sieves[direction]
        sieve.sift(frames, in: bytes, counts: &counts[direction], picks: &picks)
        for pick in picks {
            let item = frames[pick.index]
            let frame = bytes.extracting(item.start..<item.start + item.shape.total)
            if plan.rules[direction].transforms {
                transformed(frames.info(pick.index), frame, direction, plan)
            } else {
                show(frames.info(pick.index), frame, item.shape, direction, pick, plan)
            }
        }
        picks.removeAll(keepingCapacity: true)
        swap(&picks, &decoder.picks)
    }

    func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
        guard let plan else { return }
        plan.sieves[direction].count(frame, &counts[direction])
        transformed(frame, bytes, direction, plan)
    }

    /// Judges a frame whose bytes may stand for others.
    private func transformed(_ frame: FrameInfo, _ bytes: RawSpan, _ direction: Direction, _ plan: FormatPlan) {
        plan.format.directions[direction].withContent(of: bytes, frame.shape) { content, shape in
            let pick = plan.sieves[direction].judge(
                content, shape, counts: &counts[direction], frame, isWhole: frame.missing == 0)
            if let pick { show(frame, content, shape, direction, pick, plan) }
        }
    }

    /// Shows a frame to those who want to see it.
    private func show(
        _ frame: FrameInfo, _ content: RawSpan, _ shape: FrameShape, _ direction: Direction, _ pick: FrameSieve.Pick,
        _ plan: FormatPlan
    ) {
        var traced = TracedFrame(info: frame, shape: shape, direction: direction, isHeartbeat: pick.isHeartbeat)
        traced.kind = pick.kind
        let side = plan.format.directions[direction]
        if !side.body.isPlain, pick.hasNewFault || decoder.frameSinks.count > 1 {
            traced.body = traced.decodedBody(of: content, side)
        }
        decoder.analyse(plan.analysesOfAll, traced, content, connection)
        if pick.isHeartbeat { decoder.analyse(plan.analysesOfHeartbeats, traced, content, connection) }
        if pick.hasNewFault { decoder.analyse(plan.analysesOfFaults, traced, content, connection) }
        for sink in decoder.frameSinks { sink.frame(traced, bytes: content, on: connection) }
    }

    func unframed(_ run: UnframedRun, from direction: Direction) {
        for sink in decoder.sinks { sink.unframed(run, from: direction, on: connection) }
    }

    func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {
        let hole = Hole(direction: direction, offset: offset, byteCount: byteCount, time: time)
        for sink in decoder.sinks { sink.missing(hole, on: connection) }
    }
}
