import Framing
import Streams
import Trace

/// Follows messages that a server passes on, from the sender's connection to each receiver's: when they came, twice, out of order,
/// or not at all.
///
/// Who a connection belongs to is learned from what it sends. It has to see connections of all hosts together, so it is for reports
/// only. Of each target the latest messages are remembered, of so many targets.
public final class Deliveries: Analysis {
    /// What became of the messages of a format.
    public struct Outcome {
        /// Messages that were to be passed on.
        public var sent = 0
        /// Receptions: a message for somebody with two connections has two.
        public var delivered = 0
        /// Messages that did not come to somebody who was connected.
        public var missing = 0
        /// Receptions that were not the first on their connection.
        public var twice = 0
        /// Receptions before that of an older message between the same two.
        public var outOfOrder = 0
        /// Messages for somebody who was not connected, as far as can be seen.
        public var absent = 0
        /// From the sender's last byte to the receiver's.
        public var times = RoundTripTimes(digits: .three)
    }

    private struct Message {
        var sender: String
        var hash: Int
        var time: Timestamp
        var connection: Int
        var index: Int
        var packet: Int
        /// The connections of the target when it was sent, and those on which it came.
        var expected: Set<Int>
        var received: Set<Int> = []
        var isJudged = false
    }

    private struct Target: Hashable {
        var server: Endpoint
        var name: String
    }

    private var messages: [Target: [Message]] = [:]
    private var connections: [Target: Set<Int>] = [:]
    /// Whose connection it is, and which it is.
    private var owners: [Int: (target: Target, connection: TracedConnection)] = [:]
    private var outcomes: [String: Outcome] = [:]
    private var found: [Finding.Kind: Int] = [:]

    private static let most = (targets: 16_384, messages: 256, told: 1_000)

    /// Has seen nothing.
    public init() {}

    /// What became of the messages, by format.
    public func results() -> [(format: String, outcome: Outcome)] {
        outcomes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// All of formats that pass messages on.
    public func interest(in format: Format) -> FrameInterest { format.relay == nil ? [] : .all }

    /// Takes a message, or its reception.
    public func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let relay = format.relay, frame.info.missing == 0 else { return }
        let side = format.directions[frame.direction]
        var values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        values.body = frame.body
        if frame.direction == .fromClient {
            if let name = side.origin(of: bytes, frame.shape), !name.isEmpty { own(connection, name) }
            guard values.fulfil(relay.sent, content: bytes, shape: frame.shape, format: side),
                let target = side.target(of: bytes, frame.shape), !target.isEmpty
            else { return }
            send(frame, bytes, to: target, side.origin(of: bytes, frame.shape) ?? "", on: connection)
        } else if values.fulfil(relay.received, content: bytes, shape: frame.shape, format: side) {
            receive(frame, bytes, from: side.origin(of: bytes, frame.shape), on: connection, into: &findings)
        }
    }

    private func own(_ connection: TracedConnection, _ name: String) {
        let target = Target(server: connection.opening.server, name: name)
        if owners[connection.number]?.target == target { return }
        if let old = owners[connection.number]?.target { connections[old]?.remove(connection.number) }
        guard connections[target] != nil || connections.count < Self.most.targets else { return }
        owners[connection.number] = (target, connection)
        connections[target, default: []].insert(connection.number)
    }

    private static func hash(_ frame: TracedFrame, _ bytes: RawSpan) -> Int {
        var hasher = Hasher()
        bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body).withUnsafeBytes {
            hasher.combine(bytes: $0)
        }
        return hasher.finalize()
    }

    private func send(
        _ frame: TracedFrame, _ bytes: RawSpan, to name: String, _ sender: String, on connection: TracedConnection
    ) {
        let target = Target(server: connection.opening.server, name: name)
        let format = connection.format?.name ?? "-"
        outcomes[format, default: Outcome()].sent += 1
        let expected = connections[target] ?? []
        if expected.isEmpty { outcomes[format, default: Outcome()].absent += 1 }
        guard messages[target] != nil || messages.count < Self.most.targets else { return }
        messages[target, default: []].append(
            Message(
                sender: sender, hash: Self.hash(frame, bytes), time: frame.info.time, connection: connection.number,
                index: frame.info.index, packet: frame.info.packet, expected: expected))
        if messages[target]?.count ?? 0 > Self.most.messages { messages[target]?.removeFirst() }
    }

    private func receive(
        _ frame: TracedFrame, _ bytes: RawSpan, from sender: String?, on connection: TracedConnection,
        into findings: inout [Finding]
    ) {
        let number = connection.number
        guard let target = owners[number]?.target, var waiting = messages[target] else { return }
        let hash = Self.hash(frame, bytes)
        let same = waiting.indices.filter {
            waiting[$0].hash == hash && (sender == nil || waiting[$0].sender == sender)
        }
        guard !same.isEmpty else { return }
        let format = connection.format?.name ?? "-"
        guard let place = same.first(where: { !waiting[$0].received.contains(number) }) else {
            outcomes[format, default: Outcome()].twice += 1
            let message = waiting[same[same.count - 1]]
            findings += tell(
                .deliveryTwice, frame.info, connection,
                "message \(message.index) of connection \(message.connection) for \(target.name) came again", message)
            return
        }
        let message = waiting[place]
        let older = waiting[..<place].first {
            $0.sender == message.sender && $0.expected.contains(number) && !$0.received.contains(number)
        }
        waiting[place].received.insert(number)
        messages[target] = waiting
        outcomes[format, default: Outcome()].delivered += 1
        outcomes[format, default: Outcome()].times.add(frame.info.time - message.time)
        guard let older else { return }
        outcomes[format, default: Outcome()].outOfOrder += 1
        findings += tell(
            .deliveryOutOfOrder, frame.info, connection,
            "message \(message.index) of connection \(message.connection) for \(target.name) came before message \(older.index)",
            message)
    }

    private func tell(
        _ kind: Finding.Kind, _ info: FrameInfo, _ connection: TracedConnection, _ text: String, _ message: Message
    ) -> [Finding] {
        found[kind, default: 0] += 1
        guard found[kind, default: 0] <= Self.most.told else { return [] }
        return [
            Finding(
                kind: kind, severity: .warning, connection: connection.number, format: connection.format?.name,
                from: .fromServer, time: info.time, message: text,
                data: [
                    Field("index", .integer(Int64(info.index))),
                    Field("sentConnection", .integer(Int64(message.connection))),
                    Field("sentIndex", .integer(Int64(message.index))),
                ] + .packets(("packet", info.packet), ("sentPacket", message.packet)))
        ]
    }

    /// Finds what did not come to a receiver whose connection is over.
    public func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        guard let target = owners.removeValue(forKey: connection.number)?.target, let format = connection.format,
            let relay = format.relay
        else { return }
        connections[target]?.remove(connection.number)
        // Bytes that nobody saw may have been the message.
        let disturbances = connection.traffic.fromServer.disturbances
        if disturbances?.missing != nil || disturbances?.unframed != nil { return }
        for (place, message) in (messages[target] ?? []).enumerated()
        where message.expected.contains(connection.number) && !message.received.contains(connection.number) {
            messages[target]?[place].expected.remove(connection.number)
            // What was sent shortly before may still have been on its way.
            guard message.time + relay.within < closing.time else { continue }
            outcomes[format.name, default: Outcome()].missing += 1
            found[.deliveryMissing, default: 0] += 1
            guard found[.deliveryMissing, default: 0] <= Self.most.told else { continue }
            findings.append(
                Finding(
                    kind: .deliveryMissing, severity: .warning, connection: connection.number, format: format.name,
                    from: .fromServer, time: message.time + relay.within,
                    message:
                        "message \(message.index) of connection \(message.connection) never came to \(target.name), who was connected",
                    data: [
                        Field("sentConnection", .integer(Int64(message.connection))),
                        Field("sentIndex", .integer(Int64(message.index))),
                        Field("within", .number(relay.within.seconds)),
                    ] + .packets(("sentPacket", message.packet))))
        }
    }
}
