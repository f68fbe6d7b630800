import Streams

/// The server of `marker`: when three devices are present it sends all of them the same text, repeatedly, some time after each has
/// confirmed the previous one; and it forgets silent devices. With the hazard `lost-receipt` a missing receipt ends the rounds.
package struct BroadcastServer: PeerMachine {
    private struct Device {
        var name: String?
        var lastHeard: Timestamp
        /// Forgotten devices get no broadcast, though their connection stays open; any heartbeat brings them back.
        var isForgotten = false
    }

    /// How many devices must be present for the rounds to begin.
    static let devicesNeeded = 3
    /// How many rounds there are, until all devices have left.
    static let roundLimit = 200
    /// Whole seconds from 1 to 5, in an order of our choice: the first five rounds are over soon.
    static let waits: [Double] = [1, 2, 1, 2, 1, 3, 5, 4, 2, 3]

    package let setup: PeerSetup
    private var devices: [Int: Device] = [:]
    private var round = 0
    private var isUnderWay = false
    /// The devices whose receipts for the current round are missing; nil if there is no current round.
    private var awaited: Set<Int>?

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    private var waitsForLostReceipts: Bool { setup.has("lost-receipt") }
    private var nextSweep: PeerAction { .wake("sweep", after: setup.options.scaled(.seconds(2))) }
    private var nextBroadcast: PeerAction {
        .wake("broadcast", after: setup.options.scaled(.seconds(Self.waits[round % Self.waits.count])))
    }

    package func label(_ number: Int) -> String? { devices[number]?.name }

    package mutating func started(at now: Timestamp) -> [PeerAction] { [nextSweep] }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        devices[number] = Device(lastHeard: now)
        return []
    }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        switch BroadcastText(message.body) {
        case .link(let name): return learn(name, on: number)
        case .receipt: return confirm(number)
        case .text(let text):
            devices[number]?.lastHeard = now
            guard devices[number]?.isForgotten == true else { return [] }
            devices[number]?.isForgotten = false
            return [.log("\(who(number)) is back: \(printable(text))")]
        }
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        switch timer {
        case "sweep": return forgetTheSilent(at: now) + [nextSweep]
        case "broadcast": return broadcast()
        default: return giveUpReceipts()
        }
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        devices[number] = nil
        if devices.isEmpty { (round, isUnderWay, awaited) = (0, false, nil) }
        // The published server counts to three, regardless of who is still present.
        return waitsForLostReceipts ? [] : confirm(number)
    }

    // MARK: Presence

    private mutating func learn(_ name: String, on number: Int) -> [PeerAction] {
        guard devices[number]?.name != name else { return [] }
        devices[number]?.name = name
        let said = PeerAction.log("#\(number) is \(printable(name))")
        guard !isUnderWay, devices.values.count(where: { $0.name != nil }) >= Self.devicesNeeded else { return [said] }
        isUnderWay = true
        return [said, nextBroadcast]
    }

    private mutating func forgetTheSilent(at now: Timestamp) -> [PeerAction] {
        var actions: [PeerAction] = []
        for (number, device) in devices.sorted(by: { $0.key < $1.key }) where !device.isForgotten {
            let silent = now - device.lastHeard
            guard silent > setup.options.tolerated(.seconds(2)) else { continue }
            devices[number]?.isForgotten = true
            actions.append(.log("\(who(number)) forgotten: silent for \(silent.inSeconds)"))
        }
        return actions
    }

    // MARK: Rounds

    private mutating func broadcast() -> [PeerAction] {
        let targets = devices.filter { !$0.value.isForgotten }.keys.sorted()
        // There are no receivers: devices that come back get the next broadcast.
        guard !targets.isEmpty else { return devices.isEmpty ? [] : [nextBroadcast] }
        round += 1
        awaited = Set(targets)
        let message = PeerMessage(body: Array(BroadcastText.broadcast.utf8))
        let said = PeerAction.log("round \(round) to \(targets.map { "#\($0)" }.joined(separator: ", "))")
        return [said] + targets.map { .send(.messages([message]), connection: $0) }
            + (waitsForLostReceipts ? [] : [.wake("receipts", after: setup.options.scaled(.seconds(3)))])
    }

    /// A receipt arrived, or will not arrive any more because its sender has left.
    private mutating func confirm(_ number: Int) -> [PeerAction] {
        guard awaited?.remove(number) != nil, awaited?.isEmpty == true else { return [] }
        awaited = nil
        guard round < Self.roundLimit else { return [.log("the last round is over")] }
        return [.log("round \(round) is over"), nextBroadcast]
    }

    private mutating func giveUpReceipts() -> [PeerAction] {
        let missing = awaited?.sorted() ?? []
        let said = missing.map { PeerAction.log("\(who($0)) did not confirm round \(round)") }
        return said + missing.flatMap { confirm($0) }
    }
}
