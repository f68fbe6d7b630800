import Framing
import Streams

/// Collects events, connection by connection.
package struct TraceCollector {
    /// The trace collected so far; nil before its first event.
    package private(set) var trace: RecordedTrace?
    /// Where each connection, or leg, is.
    private var places: [ConnectionLeg: Int] = [:]
    /// How many connections had each number so far.
    private var uses: [Int: Int] = [:]
    /// Where the last frame's text was written.
    private var scratch: [UInt8] = []

    /// A collector of nothing yet.
    package init() {}

    /// Whether there is such a connection, or leg.
    package func knows(_ connection: ConnectionLeg) -> Bool { places[connection] != nil }

    /// Adds an event.
    ///
    /// - Returns: whether its connection was known. One that opened before the part of the trace that was read is picked up
    ///   mid-way.
    @discardableResult
    package mutating func take(_ event: TraceEvent) -> Bool {
        switch event {
        case .trace(let start): if trace == nil { trace = RecordedTrace(source: start.source) }
        case .opened(let opened):
            let list = Self.list(of: opened.leg)
            var connection = RecordedConnection(
                number: opened.connection, opened: opened.time, client: opened.client, server: opened.server)
            connection.earlier = earlier(opened)
            places[ConnectionLeg(opened.connection, opened.leg)] = trace?[keyPath: list].count
            trace?[keyPath: list].append(connection)
        case .format, .frame, .missing, .unframed, .finding, .closed:
            guard let number = event.connection else { break }
            var connection = ConnectionLeg(number, event.leg)
            // A finding that names no leg is about what both sides sent.
            if case .finding = event, connection.leg == nil, !knows(connection) { connection.leg = .in }
            let isKnown = knows(connection)
            if !isKnown {
                connection.leg = event.leg
                let time = event.time ?? Timestamp(nanoseconds: 0)
                take(
                    .opened(
                        OpenedEvent(
                            connection: number, leg: event.leg, time: time, client: "unknown", server: "unknown")))
            }
            if let place = places[connection] { trace?[keyPath: Self.list(of: connection.leg)][place].take(event) }
            return isKnown
        // Another run may follow, whose connections are others.
        case .summary: places.removeAll()
        case .tls, .action, .dropped: break
        }
        return true
    }

    /// How many connections had the number of one that opens. The leg out belongs to the latest leg in of its number.
    private mutating func earlier(_ opened: OpenedEvent) -> Int {
        let count = uses[opened.connection, default: 0]
        if opened.leg == .out { return knows(ConnectionLeg(opened.connection, .in)) ? count - 1 : count }
        uses[opened.connection] = count + 1
        return count
    }

    /// Adds a frame that a sink received, of a connection that has opened.
    ///
    /// - Parameters:
    ///   - bytes: the bytes that the sink received with it.
    ///   - bodyLimit: at most how many bytes of the decoded body are kept.
    package mutating func take(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, bodyLimit: Int) {
        guard let place = places[connection.connectionLeg] else { return }
        if connection.leg == .out {
            trace?.passedOn[place].items.append(
                frame, bytes: bytes, on: connection, bodyLimit: bodyLimit, scratch: &scratch)
        } else {
            trace?.connections[place].items.append(
                frame, bytes: bytes, on: connection, bodyLimit: bodyLimit, scratch: &scratch)
        }
    }

    /// Keeps the bytes of a frame, if they are all there as they were sent: parts of large bodies are not passed on, and escapes
    /// are resolved.
    ///
    /// - Parameter bytes: the bytes that the sink received with it.
    package mutating func keep(_ bytes: RawSpan, of frame: TracedFrame, on connection: TracedConnection) {
        let info = frame.info
        guard connection.leg != .out, let place = places[connection.connectionLeg],
            connection.format?.directions[frame.direction].rule.transforms == false, info.streamed == 0,
            info.missing == 0, bytes.byteCount == info.length
        else { return }
        trace?.connections[place].originals[FrameOrdinal(frame.direction, info.index)] =
            bytes.copied(0..<bytes.byteCount)
    }

    private static func list(of leg: Leg?) -> WritableKeyPath<RecordedTrace, [RecordedConnection]> {
        leg == .out ? \.passedOn : \.connections
    }

    /// Removes and returns the items since the last call.
    package mutating func takeItems() -> [RecordedItem] {
        guard let connections = trace?.connections else { return [] }
        var items: [RecordedItem] = []
        for place in connections.indices {
            items += connections[place].items
            trace?.connections[place].items = []
        }
        return items
    }
}

extension RecordedConnection {
    fileprivate mutating func take(_ event: TraceEvent) {
        switch event {
        case .format(let recognised): format = recognised.format
        case .frame(let frame): items.append(.frame(frame))
        case .missing(let run): items.append(.missing(run))
        case .unframed(let run): items.append(.unframed(run))
        case .finding(let finding): findings.append(finding)
        case .closed(let closed):
            closing = closed
            items.compact()
        case .trace, .opened, .tls, .action, .dropped, .summary: break
        }
    }
}
