import Streams

/// The server of `marker` as a state machine: when three devices are present it sends all of them the same text, repeatedly, some
/// time after each has confirmed the previous one; and it forgets silent devices.
package struct BroadcastServerState: ServerState {
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

    private let options: PeerOptions
    private var devices: [Int: Device] = [:]
    private var round = 0
    private var isUnderWay = false
    /// The devices whose receipts for the current round are missing; nil if there is no current round.
    private var awaited: Set<Int>?

    /// A server without connections.
    ///
    /// - Parameter options: with the hazard `lost-receipt` a missing receipt ends the rounds.
    package init(options: PeerOptions) {
        self.options = options
    }

    private var waitsForLostReceipts: Bool { options.asPublished.contains("lost-receipt") }

    package mutating func started(at time: Timestamp) -> [ServerAction] { [nextSweep] }

    package mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
        devices[number] = Device(lastHeard: time)
        return [.log("#\(number) connected from \(client)")]
    }

    package mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] {
        guard devices[number] != nil else { return [] }
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("#\(number) \(byteCount) B without frame: \(detail)")]
        case .message(let message):
            switch BroadcastText(message.body) {
            case .link(let name): return learn(name, on: number)
            case .receipt: return confirm(number)
            case .text(let text): return heard(text, from: number, at: time)
            }
        }
    }

    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ServerAction] {
        switch timer {
        case Self.sweep: return forgetTheSilent(at: time) + [nextSweep]
        case Self.broadcast: return broadcast()
        case Self.patience: return giveUpReceipts()
        default: return []
        }
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] {
        guard devices[number] != nil else { return [] }
        let left = ServerAction.log("\(name(number)) left" + (error.map { ": \($0)" } ?? ""))
        devices[number] = nil
        if devices.isEmpty {
            (round, isUnderWay, awaited) = (0, false, nil)
            return [left]
        }
        // The published server counts to three, regardless of who is still present.
        return waitsForLostReceipts ? [left] : [left] + confirm(number)
    }

    // MARK: Presence

    private mutating func learn(_ name: String, on number: Int) -> [ServerAction] {
        guard devices[number]?.name != name else { return [] }
        devices[number]?.name = name
        let said = ServerAction.log("#\(number) is \(printable(name))")
        let known = devices.values.count { $0.name != nil }
        guard !isUnderWay, known >= Self.devicesNeeded else { return [said] }
        isUnderWay = true
        return [said, nextBroadcast]
    }

    private mutating func heard(_ text: String, from number: Int, at time: Timestamp) -> [ServerAction] {
        devices[number]?.lastHeard = time
        guard devices[number]?.isForgotten == true else { return [] }
        devices[number]?.isForgotten = false
        return [.log("\(name(number)) is back: \(printable(text))")]
    }

    private mutating func forgetTheSilent(at time: Timestamp) -> [ServerAction] {
        var actions: [ServerAction] = []
        for (number, device) in devices.sorted(by: { $0.key < $1.key }) where !device.isForgotten {
            let silent = time - device.lastHeard
            guard silent > options.tolerated(.seconds(2)) else { continue }
            devices[number]?.isForgotten = true
            actions.append(.log("\(name(number)) forgotten: silent for \(silent.inSeconds)"))
        }
        return actions
    }

    private func name(_ number: Int) -> String {
        "#\(number)" + (devices[number]?.name.map { " (\(printable($0)))" } ?? "")
    }

    // MARK: Rounds

    private mutating func broadcast() -> [ServerAction] {
        let targets = devices.filter { !$0.value.isForgotten }.keys.sorted()
        // There are no receivers: devices that come back get the next broadcast.
        guard !targets.isEmpty else { return devices.isEmpty ? [] : [nextBroadcast] }
        round += 1
        awaited = Set(targets)
        let message = PeerMessage(fields: [], body: Array(BroadcastText.broadcast.utf8))
        let sends = targets.map { ServerAction.send(.messages([message]), connection: $0) }
        let said = ServerAction.log("round \(round) to \(targets.map { "#\($0)" }.joined(separator: ", "))")
        return [said] + sends + (waitsForLostReceipts ? [] : [.wake(Self.patience, after: options.scaled(.seconds(3)))])
    }

    /// A receipt arrived, or will not arrive any more because its sender has left.
    private mutating func confirm(_ number: Int) -> [ServerAction] {
        guard awaited?.remove(number) != nil, awaited?.isEmpty == true else { return [] }
        awaited = nil
        guard round < Self.roundLimit else { return [.log("the last round is over")] }
        return [.log("round \(round) is over"), nextBroadcast]
    }

    private mutating func giveUpReceipts() -> [ServerAction] {
        guard let missing = awaited?.sorted() else { return [] }
        var actions = missing.map { ServerAction.log("\(name($0)) did not confirm round \(round)") }
        for number in missing { actions += confirm(number) }
        return actions
    }

    // MARK: Timers

    private static let sweep: PeerTimer = "sweep"
    private static let broadcast: PeerTimer = "broadcast"
    private static let patience: PeerTimer = "receipts"

    private var nextSweep: ServerAction { .wake(Self.sweep, after: options.scaled(.seconds(2))) }

    private var nextBroadcast: ServerAction {
        .wake(Self.broadcast, after: options.scaled(.seconds(Self.waits[round % Self.waits.count])))
    }
}
