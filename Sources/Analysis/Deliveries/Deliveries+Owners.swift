import Framing
import Streams
import Trace

/// Which connection belongs to whom.
extension Deliveries {
    /// Assigns a connection to its owner.
    ///
    /// - Parameter isInferred: whether that follows from what was received on it: then messages sent to its owner before are
    ///   expected, too.
    func own(_ number: Int, _ name: String, isInferred: Bool, _ findings: inout [Finding]) {
        guard let receiver = receivers[number] else { return }
        let target = Target(server: receiver.connection.opening.server, name: name)
        if receiver.owner == target { return }
        if let old = receiver.owner { mailboxes[old]?.connections.remove(number) }
        // Without room for another owner, the connection has none.
        receivers[number]?.owner = nil
        guard mailboxes[target] != nil || mailboxes.count < Self.most.targets else { return }
        receivers[number]?.owner = target
        mailboxes[target, default: Mailbox()].connections.insert(number)
        if isInferred { adopt(number, target, &findings) }
        let early = receiver.early
        receivers[number]?.early = []
        for (sender, reception) in early { take(reception, from: sender, on: number, &findings) }
    }

    /// Messages sent to the owner since the connection may have been known as theirs were not sent to an absent one.
    private func adopt(_ number: Int, _ target: Target, _ findings: inout [Finding]) {
        guard let receiver = receivers[number], let format = receiver.connection.format else { return }
        let all = mailboxes[target]?.absent ?? []
        mailboxes[target]?.absent = all.filter { $0.message.time < receiver.since }
        for (sender, message) in all where message.time >= receiver.since {
            outcomes[format.name, default: Outcome()].absent -= 1
            expect(message, from: sender, on: number, &findings)
        }
    }

    /// Who a reception must be for, because only one unconnected receiver was sent such a message; nil if that is ambiguous.
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

    /// Takes a message that waited for its receiver to connect.
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
