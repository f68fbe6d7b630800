import Streams

/// A client of `marker` as a state machine: introduces itself, sends heartbeats, confirms broadcasts.
package struct DeviceState: ClientState {
    /// Its name. It must not contain the marker, as `Gabriel` does.
    package let name: String
    /// How many broadcasts it has received.
    package private(set) var broadcasts = 0
    /// How many of the next heartbeats it omits.
    package var heartbeatsToSkip = 0
    /// Whether the next receipt is sent in two parts, split inside the word that identifies it.
    package var cutsNextReceipt = false
    /// Whether the next broadcast is not confirmed.
    package var swallowsNextReceipt = false

    private let options: PeerOptions
    private let clockOffset: Interval

    /// A client that is not connected.
    ///
    /// - Parameters:
    ///   - options: scales the heartbeat's interval of 1 s.
    ///   - clockOffset: the offset from the machine's times to the time of day.
    package init(name: String, options: PeerOptions, clockOffset: Interval) {
        (self.name, self.options, self.clockOffset) = (name, options, clockOffset)
    }

    package mutating func connected(at time: Timestamp) -> [ClientAction] {
        let link = BroadcastText.link(name, at: time + clockOffset)
        return (0..<6).map { _ in .send(output(link)) } + [nextHeartbeat]
    }

    package mutating func received(_ input: PeerInput, at time: Timestamp) -> [ClientAction] {
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("\(name) got \(byteCount) B without frame: \(detail)")]
        case .message(let message):
            broadcasts += 1
            let said = ClientAction.log("\(name) got \(shown(message.body))")
            guard !swallowsNextReceipt else {
                swallowsNextReceipt = false
                return [said]
            }
            let receipt = BroadcastText.receipt(name, at: time + clockOffset)
            guard cutsNextReceipt else { return [said, .send(output(receipt))] }
            cutsNextReceipt = false
            return [said, .sendCut(output(receipt), at: [4], pause: Self.partPause)]
        }
    }

    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ClientAction] {
        guard timer == Self.heartbeat else { return [] }
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("\(name) leaves out a heartbeat"), nextHeartbeat]
        }
        return [.send(output(Array(name.utf8))), nextHeartbeat]
    }

    /// The delay between the parts of a frame: far shorter than the pause that would end it.
    static let partPause = Interval.milliseconds(40)

    private static let heartbeat: PeerTimer = "heartbeat"

    private var nextHeartbeat: ClientAction { .wake(Self.heartbeat, after: options.scaled(.seconds(1))) }

    private func output(_ body: [UInt8]) -> PeerOutput { .messages([PeerMessage(fields: [], body: body)]) }
}
