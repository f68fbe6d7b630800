import Framing
import Histogram
import Streams
import Trace

/// Tracks messages that a server relays, from the sender's connection to each receiver's: when they were delivered, twice, out of
/// order, or not at all.
///
/// The owner of a connection is learned from what is sent on it, or from the messages received there. It must see the connections
/// of all hosts, so it is for reports only. The outcome of a message is reported when its receiver's connection is over, or when
/// enough messages follow to settle it.
package final class Deliveries: Analysis {
    /// The outcome of a format's messages.
    package struct Outcome {
        /// Messages that should be relayed.
        package var sent = 0
        /// Receptions: a message for a receiver with two connections has two.
        package var delivered = 0
        /// Messages that were not delivered to a connected receiver.
        package var missing = 0
        /// Receptions that were not the first on their connection.
        package var twice = 0
        /// Messages that arrived after one of the same sender that was sent later (RFC 4737 section 3.3).
        package var outOfOrder = 0
        /// Messages for a receiver that was not connected, as far as can be seen.
        package var absent = 0
        /// From the sender's last byte to the receiver's.
        package var times = RoundTripTimes(digits: .three)
    }

    /// Who receives messages at a server.
    struct Target: Hashable {
        var server: Endpoint
        var name: String
    }

    /// What waits for a receiver.
    struct Mailbox {
        var connections: Set<Int> = []
        /// Messages sent while there was no connection, and their senders.
        var absent: [(sender: String, message: DeliveryFlow.Message)] = []
    }

    /// A connection to a server that relays messages.
    struct Receiver {
        let connection: TracedConnection
        let relay: Relay
        /// Since when its client may be known to the server.
        var since: Timestamp
        var hasSpoken = false
        var owner: Target?
        /// Messages to it, by their sender; by "" if receptions do not name it.
        var flows: [String: DeliveryFlow] = [:]
        /// What arrived before the owner of the connection was known.
        var early: [(sender: String?, reception: DeliveryFlow.Reception)] = []
    }

    var mailboxes: [Target: Mailbox] = [:]
    var receivers: [Int: Receiver] = [:]
    var outcomes: [String: Outcome] = [:]
    var found: [Finding.Kind: Int] = [:]
    /// The members of JSON bodies sent and received, by format.
    private var names: [String: (sent: Set<String>, received: Set<String>)] = [:]

    static let most = (targets: 16_384, absent: 256, senders: 1_024, early: 64, names: 256, reported: 1_000)

    /// Has seen nothing.
    package init() {}

    /// The outcome of the messages, by format.
    package func results() -> [(format: String, outcome: Outcome)] {
        outcomes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// All frames of formats that relay messages.
    package func interest(in format: Format) -> FrameInterest { format.relay == nil ? [] : .all }

    /// A message's id for display; nil if it has none, or if it is secret.
    private static func shownID(
        _ place: ValuePlace, of frame: TracedFrame, _ bytes: RawSpan, _ connection: TracedConnection
    ) -> String? {
        guard let kinds = connection.kinds(of: frame.direction), !FrameSecrets.hide(place, of: frame, bytes, kinds)
        else {
            return nil
        }
        return kinds.format.value(at: place, of: bytes, frame.shape)?.shortText
    }

    /// Takes a message, or its reception.
    package func frame(
        _ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let format = connection.format, let relay = format.relay, frame.info.missing == 0 else { return }
        let side = format.directions[frame.direction]
        var values = FrameValues(info: frame.info, direction: frame.direction, isHeartbeat: frame.isHeartbeat)
        values.body = frame.body
        let number = connection.number
        if receivers[number] == nil {
            receivers[number] = Receiver(connection: connection, relay: relay, since: connection.opening.time)
        }
        if frame.direction == .fromClient {
            if receivers[number]?.hasSpoken == false {
                receivers[number]?.hasSpoken = true
                receivers[number]?.since = frame.info.time
            }
            let sender = side.origin(of: bytes, frame.shape)
            if let sender, !sender.isEmpty { own(number, sender, isInferred: false, &findings) }
            guard values.fulfil(relay.sent, content: bytes, shape: frame.shape, format: side),
                let target = side.target(of: bytes, frame.shape), !target.isEmpty,
                let identity = MessageIdentity(frame, bytes, side, id: relay.id)
            else { return }
            note(identity.names, isSent: true, of: format)
            let message = DeliveryFlow.Message(
                identity: identity, time: frame.info.time, connection: number, index: frame.info.index,
                packet: frame.info.packet,
                id: relay.id.flatMap { Self.shownID($0, of: frame, bytes, connection) })
            let origin = sender ?? receivers[number]?.owner?.name ?? ""
            send(message, from: origin, to: Target(server: connection.opening.server, name: target), format, &findings)
        } else if values.fulfil(relay.received, content: bytes, shape: frame.shape, format: side),
            let identity = MessageIdentity(frame, bytes, side, id: relay.id)
        {
            note(identity.names, isSent: false, of: format)
            if receivers[number]?.owner == nil, let name = side.target(of: bytes, frame.shape), !name.isEmpty {
                own(number, name, isInferred: true, &findings)
            }
            let reception = DeliveryFlow.Reception(
                identity: identity, time: frame.info.time, index: frame.info.index, packet: frame.info.packet)
            receive(reception, from: side.origin(of: bytes, frame.shape), on: number, &findings)
        }
    }

    private func note(_ new: Set<String>, isSent: Bool, of format: Format) {
        guard !new.isEmpty else { return }
        var known = names[format.name] ?? ([], [])
        if isSent {
            if known.sent.count < Self.most.names { known.sent.formUnion(new) }
        } else if known.received.count < Self.most.names {
            known.received.formUnion(new)
        }
        names[format.name] = known
    }

    /// The members of JSON bodies that both sides of a format have.
    func comparedNames(_ format: Format?) -> Set<String> {
        guard let format, let known = names[format.name] else { return [] }
        return known.sent.intersection(known.received)
    }

    /// Whether receptions name the sender of the message.
    func namesSenders(_ number: Int) -> Bool {
        receivers[number]?.connection.format?.directions.fromServer.fromPlace != nil
    }

    // MARK: Messages

    private func send(
        _ message: DeliveryFlow.Message, from sender: String, to target: Target, _ format: Format,
        _ findings: inout [Finding]
    ) {
        outcomes[format.name, default: Outcome()].sent += 1
        guard mailboxes[target] != nil || mailboxes.count < Self.most.targets else { return }
        if mailboxes[target] == nil { mailboxes[target] = Mailbox() }
        let expected = mailboxes[target]?.connections ?? []
        if expected.isEmpty {
            outcomes[format.name, default: Outcome()].absent += 1
            mailboxes[target]?.absent.append((sender, message))
            if mailboxes[target]?.absent.count ?? 0 > Self.most.absent { mailboxes[target]?.absent.removeFirst() }
        }
        for number in expected.sorted() { expect(message, from: sender, on: number, &findings) }
    }

    /// A message is due on a connection.
    func expect(_ message: DeliveryFlow.Message, from sender: String, on number: Int, _ findings: inout [Finding]) {
        let key = namesSenders(number) ? sender : ""
        guard receivers[number]?.flows[key] != nil || receivers[number]?.flows.count ?? 0 < Self.most.senders else {
            return
        }
        receivers[number]?.flows[key, default: DeliveryFlow()].add(message)
        settle(number, key, isOver: false, &findings)
    }

    private func receive(
        _ reception: DeliveryFlow.Reception, from sender: String?, on number: Int, _ findings: inout [Finding]
    ) {
        if receivers[number]?.owner == nil {
            guard let target = onlyTarget(of: reception, from: sender, on: number) else {
                if receivers[number]?.early.count ?? 0 < Self.most.early {
                    receivers[number]?.early.append((sender, reception))
                }
                return
            }
            own(number, target.name, isInferred: true, &findings)
        }
        take(reception, from: sender, on: number, &findings)
    }

    func take(
        _ reception: DeliveryFlow.Reception, from sender: String?, on number: Int, _ findings: inout [Finding]
    ) {
        var key = namesSenders(number) ? sender ?? "" : ""
        if key.isEmpty, namesSenders(number), let flows = receivers[number]?.flows {
            // If this frame does not name its sender, it belongs to the flow that expects it.
            let names = comparedNames(receivers[number]?.connection.format)
            key = flows.keys.sorted().first { flows[$0]?.awaits(reception, comparing: names) ?? false } ?? ""
        }
        guard receivers[number]?.flows[key] != nil || receivers[number]?.flows.count ?? 0 < Self.most.senders else {
            return
        }
        receivers[number]?.flows[key, default: DeliveryFlow()].add(reception)
        settle(number, key, isOver: false, &findings)
    }

    /// Finds messages not delivered to a receiver whose connection is over.
    package func closed(_ closing: Closing, on connection: TracedConnection, into findings: inout [Finding]) {
        let number = connection.number
        guard let receiver = receivers[number] else { return }
        for key in receiver.flows.keys.sorted() {
            settle(number, key, isOver: true, closing: closing.time, &findings)
        }
        if let owner = receiver.owner { mailboxes[owner]?.connections.remove(number) }
        receivers[number] = nil
    }
}
