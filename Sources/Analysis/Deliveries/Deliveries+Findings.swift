import Framing
import Streams
import Trace

/// The outcome of messages.
extension Deliveries {
    /// Counts the settled messages of a sender to a connection, and reports faults.
    ///
    /// - Parameter closing: when the connection ended, if it did.
    func settle(
        _ number: Int, _ key: String, isOver: Bool, closing: Timestamp = .distantFuture, _ findings: inout [Finding]
    ) {
        guard let receiver = receivers[number], var flow = receiver.flows[key], isOver || flow.isFull else { return }
        let names = comparedNames(receiver.connection.format)
        let events = flow.settle(within: receiver.relay.within, comparing: names, isOver: isOver)
        receivers[number]?.flows[key] = flow
        guard let format = receiver.connection.format, let target = receiver.owner else { return }
        let findingContext = Context(connection: receiver.connection, format: format.name, target: target.name)
        for event in events {
            switch event {
            case .delivered(let message, let reception): count(message, reception, format.name)
            case .overtaken(let message, let later, let reception):
                outcomes[format.name, default: Outcome()].outOfOrder += 1
                let text = "\(name(message, target)) arrived after \(short(later)), which was sent later"
                findings += report(.deliveryOutOfOrder, reception, message, text, findingContext)
            case .repeated(let message, let reception):
                outcomes[format.name, default: Outcome()].twice += 1
                findings += report(
                    .deliveryTwice, reception, message, "\(name(message, target)) arrived again", findingContext)
            case .unknown(let reception):
                if let message = stored(reception, from: key, for: target, comparing: names) {
                    count(message, reception, format.name)
                }
            case .missing(let message):
                // Missing bytes may have been the message; a message sent shortly before may have been in flight.
                let disturbances = receiver.connection.traffic.fromServer.disturbances
                if disturbances?.missing != nil || disturbances?.unframed != nil { continue }
                let isLate = message.time + receiver.relay.within < closing
                // A message whose successors arrived, and that is long overdue, was lost, though the connection ended early.
                let longest = Interval(nanoseconds: outcomes[format.name]?.times.maximum.nanoseconds ?? 0)
                let isOvertaken = flow.hasPassed(message) && message.time + longest + longest < closing
                guard isLate || isOvertaken else { continue }
                findings += missing(message, isLate ? receiver.relay.within : closing - message.time, findingContext)
            }
        }
    }

    private struct Context {
        var connection: TracedConnection
        var format: String
        var target: String
    }

    private func count(_ message: DeliveryFlow.Message, _ reception: DeliveryFlow.Reception, _ format: String) {
        outcomes[format, default: Outcome()].delivered += 1
        outcomes[format, default: Outcome()].times.add(reception.time - message.time)
    }

    private func short(_ message: DeliveryFlow.Message) -> String {
        message.id.map { "message with id \($0)" } ?? "message \(message.index)"
    }

    private func name(_ message: DeliveryFlow.Message, _ target: Target) -> String {
        "\(short(message)) of connection \(message.connection) for \(target.name)"
    }

    private func isReported(_ kind: Finding.Kind) -> Bool {
        found[kind, default: 0] += 1
        return found[kind, default: 0] <= Self.most.reported
    }

    private func data(_ message: DeliveryFlow.Message) -> [Field] {
        [
            Field("sentConnection", .integer(Int64(message.connection))),
            Field("sentIndex", .integer(Int64(message.index))),
        ] + (message.id.map { [Field("id", .text($0))] } ?? [])
    }

    private func report(
        _ kind: Finding.Kind, _ reception: DeliveryFlow.Reception, _ message: DeliveryFlow.Message, _ text: String,
        _ context: Context
    ) -> [Finding] {
        guard isReported(kind) else { return [] }
        return [
            Finding(
                kind: kind, severity: .warning, connection: context.connection.number, format: context.format,
                from: .fromServer, time: reception.time, message: text,
                data: [Field("index", .integer(Int64(reception.index)))] + data(message)
                    + .packets(("packet", reception.packet), ("sentPacket", message.packet)))
        ]
    }

    private func missing(_ message: DeliveryFlow.Message, _ within: Interval, _ context: Context) -> [Finding] {
        outcomes[context.format, default: Outcome()].missing += 1
        guard isReported(.deliveryMissing) else { return [] }
        return [
            Finding(
                kind: .deliveryMissing, severity: .warning, connection: context.connection.number,
                format: context.format, from: .fromServer, time: message.time + within,
                message:
                    "\(short(message)) of connection \(message.connection) was never delivered to \(context.target), "
                    + "which was connected",
                data: data(message) + [Field("within", .number(within.seconds))]
                    + .packets(("sentPacket", message.packet)))
        ]
    }
}
