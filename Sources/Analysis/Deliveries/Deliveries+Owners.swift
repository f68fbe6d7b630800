import Framing
import Streams
import Trace

/// Whose connection is whose.
extension Deliveries {
    /// A connection belongs to somebody.
    ///
    /// - Parameter isInferred: whether what came there tells so: then what was sent to its owner before is expected, too.
    func own(_ number: Int, _ name: String, isInferred: Bool, _ findings: inout [Finding]) {
        guard let receiver = receivers[number] else { return }
        let target = Target(server: receiver.connection.opening.server, name: name)
        if receiver.owner == target { return }
        if let old = receiver.owner { mailboxes[old]?.connections.remove(number) }
        guard mailboxes[target] != nil || mailboxes.count < Self.most.targets else { return }
        receivers[number]?.owner = target
        mailboxes[target, default: Mailbox()].connections.insert(number)
        if isInferred { adopt(number, target, &findings) }
        let early = receiver.early
        receivers[number]?.early = []
        for (sender, reception) in early { take(reception, from: sender, on: number, &findings) }
    }

    /// What was sent to somebody since the connection may have been known as theirs was not sent to somebody absent.
    private func adopt(_ number: Int, _ target: Target, _ findings: inout [Finding]) {
        guard let receiver = receivers[number], let format = receiver.connection.format else { return }
        let all = mailboxes[target]?.absent ?? []
        mailboxes[target]?.absent = all.filter { $0.message.time < receiver.since }
        for (sender, message) in all where message.time >= receiver.since {
            outcomes[format.name, default: Outcome()].absent -= 1
            expect(message, from: sender, on: number, &findings)
        }
    }

    /// Who a reception must be for, since only one was sent the like and is not connected; nil where that is not clear.
    func onlyTarget(of reception: DeliveryFlow.Reception, from sender: String?, on number: Int) -> Target? {
        guard let receiver = receivers[number] else { return nil }
        let names = comparedNames(receiver.connection.format)
        let wanted = reception.identity.restricted(to: names)
        var found: Target?
        for (target, mailbox) in mailboxes where target.server == receiver.connection.opening.server {
            let isSent = mailbox.absent.contains { other, message in
                (sender == nil || sender == other) && message.time <= reception.time
                    && message.identity.restricted(to: names) == wanted
            }
            guard isSent else { continue }
            if found != nil { return nil }
            found = target
        }
        return found
    }

    /// A message that waited for its receiver to connect; it waits no more.
    func stored(
        _ reception: DeliveryFlow.Reception, from sender: String, for target: Target, comparing names: Set<String>
    ) -> DeliveryFlow.Message? {
        let wanted = reception.identity.restricted(to: names)
        guard
            let place = mailboxes[target]?.absent.firstIndex(where: { other, message in
                (sender.isEmpty || sender == other) && message.time <= reception.time
                    && message.identity.restricted(to: names) == wanted
            })
        else { return nil }
        return mailboxes[target]?.absent.remove(at: place).message
    }
}
