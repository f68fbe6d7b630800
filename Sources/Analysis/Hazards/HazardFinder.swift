import Framing
import Streams
import Trace

/// Finds the frames at which the published receivers of a format would have stalled, misread, wedged or lost data: the hazards that
/// the format names.
///
/// What such a receiver does after its first mistake is unpredictable: each frame is judged as if everything before it had been
/// handled correctly.
package final class HazardFinder: Analysis {
    private var connections: [Int: HazardState] = [:]
    /// What the clients of each server send, for the buffer they would share.
    var servers: [Endpoint: ClientReads] = [:]
    /// The open connections that send each text, for servers that distinguish clients by it.
    private var texts: [SaidText: Set<Int>] = [:]
    /// How many chunks there were.
    private var reads = 0

    /// Up to this many of each hazard are reported individually; beyond that only their number.
    private static let reported = 100
    private static let most = (connections: 65_536, servers: 1_024, sharers: 1_024, texts: 16)

    /// Has seen nothing.
    package init() {}

    /// Packets, because it must know where chunks end.
    package var wantsPackets: Bool { true }

    /// All frames of formats that name hazards.
    package func interest(in format: Format) -> FrameInterest { format.hazards.isEmpty ? [] : .all }

    /// From here on it is known how far a connection's bytes are framed.
    package func recognised(_ connection: TracedConnection, into findings: inout [Finding]) {
        state(connection)?.isFramed = true
    }

    private func state(_ connection: TracedConnection) -> HazardState? {
        if let known = connections[connection.number] { return known }
        guard connections.count < Self.most.connections else { return nil }
        let state = HazardState()
        connections[connection.number] = state
        return state
    }

    /// Notes where a chunk ends.
    package func received(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection) {
        reads += 1
        state(connection)?.sides[packet.direction].ends.add(byteCount, read: reads)
        guard packet.direction == .fromClient else { return }
        let server = connection.opening.server
        guard servers[server] != nil || servers.count < Self.most.servers else { return }
        servers[server, default: ClientReads(first: reads)].add(reads, on: connection.number)
        if servers[server]?.connections.count ?? 0 < Self.most.sharers {
            servers[server]?.connections.insert(connection.number)
        }
    }

    /// Judges a frame.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let state = state(connection) else { return }
        let (info, direction) = (frame.info, frame.direction)
        let side = format.directions[direction]
        let chunks = state.sides[direction].ends.chunks(of: info.offset..<info.offset + info.length)
        let view = HazardView(
            direction: direction, info: info, shape: frame.shape, type: side.type(of: bytes, frame.shape),
            isHeartbeat: frame.isHeartbeat, ids: format.has(.wideID) ? side.ids(ofLayout: frame.shape.layout) : [],
            chunks: chunks.places,
            reads: chunks.reads)
        endSpan(before: view, format, state, connection, into: &findings)
        state.sides[direction].reported = info.offset + info.length
        guard info.missing == 0 else { return }
        let values = FrameValues(info: info, direction: direction, isHeartbeat: frame.isHeartbeat)
        var isKept = false
        for known in format.hazards {
            let hazard = known.hazard
            func isMeant() -> Bool? {
                known.condition.map { values.fulfil($0, content: bytes, shape: frame.shape, format: side) }
            }
            let harm = hazard.harm(at: view, bytes) ?? self.harm(hazard, view, bytes, state, connection, isMeant)
            if let harm { findings += report(hazard, harm, view, state, connection) }
            if hazard == .keptBuffer, direction == .fromClient { isKept = isMeant() ?? true }
        }
        findings += lostReceipts(view, frame, bytes, format, state, connection)
        if direction == .fromClient { state.isKept = isKept }
    }

    /// The hazards that depend on more than the frame, or on what it says: `isMeant` is whether it fulfils the format's
    /// condition, nil if there is none.
    private func harm(
        _ hazard: Hazard, _ frame: HazardView, _ bytes: RawSpan, _ state: HazardState, _ connection: TracedConnection,
        _ isMeant: () -> Bool?
    ) -> String? {
        let isRequest = frame.direction == .fromClient
        switch hazard {
        case .keptBuffer where isRequest && state.isKept:
            return Hazard.isKept
        case .alwaysFailure where !isRequest:
            return isMeant() == true ? "answers failure, though what was sent may be stored" : nil
        case .perRead where isRequest && frame.isOneRead:
            return isMeant() == true ? "goes on: compares the read with another line end" : nil
        case .sharedBuffer where isRequest: return mixed(frame, connection)
        case .keyedByText where isRequest: return keyed(frame, bytes, state, connection)
        default: return nil
        }
    }

    /// What a buffer shared by all clients does to a frame of one of them.
    private func mixed(_ frame: HazardView, _ connection: TracedConnection) -> String? {
        let server = connection.opening.server
        guard let clients = servers[server] else { return nil }
        if clients.isLeftOver {
            servers[server]?.isLeftOver = false
            return "mixes two clients: one left the beginning of a frame in the buffer"
        }
        if let reads = frame.reads, clients.isMixed(reads) {
            return "mixes two clients: another sent something while this frame was under way"
        }
        let isInside = clients.connections.contains { number in
            guard number != connection.number, let other = connections[number], other.isFramed else { return false }
            let start = other.sides.fromClient.firstRead
            return start.map { $0 < frame.reads?.upperBound ?? 0 } ?? false
        }
        return isInside ? "mixes two clients: a frame of another was under way" : nil
    }

    /// The broadcasts for which a server that counts receipts waits forever.
    private func lostReceipts(
        _ view: HazardView, _ frame: TracedFrame, _ bytes: RawSpan, _ format: Format, _ state: HazardState,
        _ connection: TracedConnection
    ) -> [Finding] {
        guard connection.hasBegun, let broadcast = format.broadcast,
            format.has(.lostReceipt)
        else { return [] }
        let values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        let what = frame.direction == .fromServer ? broadcast.sent : broadcast.receipt
        let isOne = values.fulfil(
            what, content: bytes, shape: frame.shape, format: format.directions[frame.direction])
        guard frame.direction == .fromClient else {
            if isOne { state.receipts.sent(view, within: broadcast.within) }
            return []
        }
        let lost = state.receipts.heard(isReceipt: isOne, at: frame.info.started)
        return lost.flatMap { report(.lostReceipt, Self.lostReceipt, $0, state, connection) }
    }

    private static let lostReceipt = "waits for ever: this client did not confirm the broadcast"

    private func keyed(
        _ frame: HazardView, _ bytes: RawSpan, _ state: HazardState, _ connection: TracedConnection
    ) -> String? {
        guard frame.isHeartbeat else { return "misreads: takes what is no heartbeat for a client of its own" }
        if frame.beginsWithin || frame.endsWithin {
            return "misreads: takes several heartbeats in one read for a client of its own"
        }
        let text = SaidText(server: connection.opening.server, bytes: bytes.copied(0..<min(64, bytes.byteCount)))
        if state.said.count < Self.most.texts, state.said.insert(text).inserted {
            texts[text, default: []].insert(connection.number)
        }
        return texts[text]?.count ?? 0 > 1 ? "misreads: takes it for another client, which says the same" : nil
    }

    private func report(
        _ hazard: Hazard, _ harm: String, _ frame: HazardView, _ state: HazardState, _ connection: TracedConnection
    ) -> [Finding] {
        let place = frame.info.offset..<frame.info.offset + frame.info.length
        let index = Field("index", .integer(Int64(frame.info.index)))
        return report(
            hazard, harm, frame.direction, frame.info.time, place, state, connection, [index],
            packet: frame.info.packet)
    }

    /// A finding, if it is one of the first of its kind.
    func report(
        _ hazard: Hazard, _ harm: String, _ direction: Direction, _ time: Timestamp, _ place: Range<Int>,
        _ state: HazardState, _ connection: TracedConnection, _ data: [Field] = [], packet: Int = 0
    ) -> [Finding] {
        state.reported[hazard, default: 0] += 1
        guard state.reported[hazard, default: 0] <= Self.reported else { return [] }
        let extent = [
            Field("offset", .integer(Int64(place.lowerBound))), Field("length", .integer(Int64(place.count))),
        ]
        return [finding(hazard, harm, direction, time, connection, data + extent + .packets(("packet", packet)))]
    }

    private func finding(
        _ hazard: Hazard, _ harm: String, _ direction: Direction, _ time: Timestamp, _ connection: TracedConnection,
        _ data: [Field]
    ) -> Finding {
        Finding(
            kind: .hazard, severity: .info, connection: connection.number, format: connection.known?.format.name,
            from: direction, time: time, message: "\(hazard.rawValue): a published receiver \(harm)",
            data: [Field("hazard", .text(hazard.rawValue))] + data)
    }

    /// Judges bytes that belong to no frame.
    package func unframed(
        _ run: UnframedRun, from direction: Direction, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let state = state(connection) else { return }
        judge(run, from: direction, format, state, connection, into: &findings)
    }

    /// A frame truncated by the end is known to be one.
    package func finished(
        _ direction: Direction, at time: Timestamp, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let state = connections[connection.number] else { return }
        endSpan(of: direction, state, connection, into: &findings)
    }

    /// Reports what was left open, and how many more there were.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        defer { forget(connection) }
        guard let state = connections.removeValue(forKey: connection.number) else { return }
        if closing.reason == .fin || closing.reason == .reset {
            for direction in Direction.allCases { endSpan(of: direction, state, connection, into: &findings) }
        }
        for lost in state.receipts.ended(closing) {
            findings += report(.lostReceipt, Self.lostReceipt, lost, state, connection)
        }
        for text in state.said {
            texts[text]?.remove(connection.number)
            if texts[text]?.isEmpty == true { texts[text] = nil }
        }
        for (hazard, count) in state.reported.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where count > Self.reported {
            let more = count - Self.reported
            findings.append(
                finding(
                    hazard, "the same \(Quantities.counted(more, "more time"))", .fromClient, closing.time, connection,
                    [Field("count", .integer(Int64(more)))]))
        }
    }

    /// A connection is no longer a client of its server; a server without clients may have kept what one left.
    private func forget(_ connection: TracedConnection) {
        let server = connection.opening.server
        servers[server]?.connections.remove(connection.number)
        if servers[server]?.connections.isEmpty == true, servers[server]?.isLeftOver == false { servers[server] = nil }
    }
}
