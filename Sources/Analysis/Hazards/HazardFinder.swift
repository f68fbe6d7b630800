import Framing
import Streams
import Trace

/// Finds the frames at which the published receivers of a format would have stalled, misread, wedged or lost data: the hazards that
/// the format names.
///
/// What such a receiver does after its first mistake nobody can tell: each frame is judged as if all had been well until then.
public final class HazardFinder: Analysis {
    private var connections: [Int: State] = [:]
    /// The connections of each server that have sent something lately, and when: for the buffer that they would share.
    private var senders: [Endpoint: [Int: Timestamp]] = [:]
    /// The open connections that say each text, of each server: for those that are told apart by it.
    private var texts: [Text: Set<Int>] = [:]

    private struct Text: Hashable {
        var server: Endpoint
        var bytes: [UInt8]
    }

    private final class State {
        var ends = PerDirection(fromClient: ChunkEnds(), fromServer: ChunkEnds())
        /// Whether the last request left something in the buffer.
        var isKept = false
        var said: Set<Text> = []
        var told: [Hazard: Int] = [:]
    }

    /// Of so many a hazard each is told; of more only how many there were.
    private static let told = 100
    private static let most = (connections: 65_536, senders: 1_024, texts: 16)

    /// Has seen nothing.
    public init() {}

    /// Chunks, whose ends it has to know.
    public var wantsPackets: Bool { true }

    /// All of formats that name hazards.
    public func interest(in format: Format) -> FrameInterest { format.hazards.isEmpty ? [] : .all }

    private func state(_ connection: TracedConnection) -> State? {
        if let known = connections[connection.number] { return known }
        guard connections.count < Self.most.connections else { return nil }
        let state = State()
        connections[connection.number] = state
        return state
    }

    /// Notes where a chunk ends.
    public func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection) {
        state(connection)?.ends[packet.direction].add(byteCount)
        guard packet.direction == .fromClient else { return }
        let server = connection.opening.server
        if senders[server] != nil || senders.count < Self.most.senders {
            senders[server, default: [:]][connection.number] = packet.time
            if senders[server]?.count ?? 0 > Self.most.senders { senders[server]?.removeAll() }
        }
    }

    /// Judges a frame.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let state = state(connection), frame.info.missing == 0 else { return }
        let info = frame.info
        let side = format.directions[frame.direction]
        let view = HazardView(
            direction: frame.direction, info: info, shape: frame.shape, type: side.type(of: bytes, frame.shape),
            isHeartbeat: frame.isHeartbeat,
            chunks: state.ends[frame.direction].chunks(of: info.offset..<info.offset + info.length))
        for name in format.hazards {
            guard let hazard = Hazard(rawValue: name) else { continue }
            let harm =
                hazard.harm(at: view, bytes) ?? self.harm(hazard, view, bytes, side, state, connection)
            if let harm { findings += tell(hazard, harm, view, state, connection) }
        }
        if frame.direction == .fromClient { state.isKept = view.type == "location" || view.type == "voice" }
    }

    /// What depends on more than the frame.
    private func harm(
        _ hazard: Hazard, _ frame: HazardView, _ bytes: RawSpan, _ format: DirectionFormat, _ state: State,
        _ connection: TracedConnection
    ) -> String? {
        let isRequest = frame.direction == .fromClient
        switch hazard {
        case .keptBuffer where isRequest && state.isKept:
            return "wedges: its buffer still has the \(frame.type == nil ? "frame" : "request") before this one"
        case .alwaysFailure where !isRequest:
            guard case .unsigned(0)? = format.field("result", of: bytes, frame.shape) else { return nil }
            return "answers failure, though what was sent may be stored"
        case .sharedBuffer where isRequest && frame.isSplit:
            let others = senders[connection.opening.server] ?? [:]
            let mixed = others.contains {
                $0.key != connection.number && $0.value >= frame.info.started && $0.value <= frame.info.time
            }
            return mixed ? "mixes two clients: another sent something while this frame was under way" : nil
        case .keyedByText where isRequest: return keyed(frame, bytes, state, connection)
        default: return nil
        }
    }

    private func keyed(
        _ frame: HazardView, _ bytes: RawSpan, _ state: State, _ connection: TracedConnection
    ) -> String? {
        guard frame.isHeartbeat else { return "misreads: takes what is no heartbeat for a client of its own" }
        if frame.beginsWithin || frame.endsWithin {
            return "misreads: takes several heartbeats in one read for a client of its own"
        }
        let text = Text(server: connection.opening.server, bytes: bytes.copied(0..<min(64, bytes.byteCount)))
        if state.said.count < Self.most.texts, state.said.insert(text).inserted {
            texts[text, default: []].insert(connection.number)
        }
        return texts[text]?.count ?? 0 > 1 ? "misreads: takes it for another client, which says the same" : nil
    }

    /// Judges bytes that belong to no frame.
    public func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let state = state(connection) else { return }
        for name in format.hazards {
            guard let hazard = Hazard(rawValue: name), let harm = hazard.harm(at: run, from: direction) else {
                continue
            }
            state.told[hazard, default: 0] += 1
            guard state.told[hazard, default: 0] <= Self.told else { continue }
            findings.append(
                finding(
                    hazard, harm, direction, run.time, connection,
                    [
                        Field("offset", .integer(Int64(run.offset))),
                        Field("length", .integer(Int64(run.bytes.count))),
                    ]))
        }
    }

    private func tell(
        _ hazard: Hazard, _ harm: String, _ frame: HazardView, _ state: State, _ connection: TracedConnection
    ) -> [Finding] {
        state.told[hazard, default: 0] += 1
        guard state.told[hazard, default: 0] <= Self.told else { return [] }
        return [
            finding(
                hazard, harm, frame.direction, frame.info.time, connection,
                [
                    Field("index", .integer(Int64(frame.info.index))),
                    Field("offset", .integer(Int64(frame.info.offset))),
                    Field("length", .integer(Int64(frame.info.length))),
                ] + .packets(("packet", frame.info.packet)))
        ]
    }

    private func finding(
        _ hazard: Hazard, _ harm: String, _ direction: Direction, _ time: Timestamp, _ connection: TracedConnection,
        _ data: [Field]
    ) -> Finding {
        Finding(
            kind: .hazard, severity: .info, connection: connection.number, format: connection.format?.name,
            from: direction, time: time, message: "\(hazard.rawValue): a published receiver \(harm)",
            data: [Field("hazard", .text(hazard.rawValue))] + data)
    }

    /// Says how many more there were.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        senders[connection.opening.server]?[connection.number] = nil
        guard let state = connections.removeValue(forKey: connection.number) else { return }
        for text in state.said {
            texts[text]?.remove(connection.number)
            if texts[text]?.isEmpty == true { texts[text] = nil }
        }
        for (hazard, count) in state.told.sorted(by: { $0.key.rawValue < $1.key.rawValue }) where count > Self.told {
            let more = count - Self.told
            findings.append(
                finding(
                    hazard, "the same \(Quantities.counted(more, "more time"))", .fromClient, closing.time, connection,
                    [Field("count", .integer(Int64(more)))]))
        }
    }
}
