import Streams

/// A client of `marker`: introduces itself, sends heartbeats, confirms broadcasts.
package struct BroadcastDevice: PeerMachine {
    package let setup: PeerSetup
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

    /// A client that is not connected. Its heartbeats come every 1 s, scaled.
    package init(_ setup: PeerSetup, name: String) { (self.setup, self.name) = (setup, name) }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        [PeerAction](repeating: send(BroadcastText.link(name, at: now)), count: 6) + [nextHeartbeat]
    }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        broadcasts += 1
        let said = PeerAction.log("\(name) got \(shown(message.body))")
        guard !swallowsNextReceipt else {
            swallowsNextReceipt = false
            return [said]
        }
        let receipt = PeerOutput.messages([PeerMessage(body: BroadcastText.receipt(name, at: now))])
        guard cutsNextReceipt else { return [said, .send(receipt)] }
        cutsNextReceipt = false
        return [said, .sendCut(receipt, at: [4], pause: Self.partPause)]
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("\(name) leaves out a heartbeat"), nextHeartbeat]
        }
        return [send(Array(name.utf8)), nextHeartbeat]
    }

    /// The delay between the parts of a frame: far shorter than the pause that would end it.
    static let partPause = Interval.milliseconds(40)

    private var nextHeartbeat: PeerAction { .wake("heartbeat", after: setup.options.scaled(.seconds(1))) }

    private func send(_ body: [UInt8]) -> PeerAction { .send(.messages([PeerMessage(body: body)])) }
}
