import Streams

/// A client of the chat relay as a state machine: events go in with their times, actions come out.
///
/// It sends heartbeats at once and then regularly, and reconnects after any error, with exponential backoff.
package struct ChatClientState {
    /// The client's actions, in order.
    package enum Action: Hashable, Sendable {
        /// Connect, and report the outcome with `connected` or `lost`.
        case connect
        /// Call `connectDue` after this interval.
        case connectLater(Interval)
        /// Call `heartbeatDue` after this interval, unless the connection is lost first.
        case heartbeatLater(Interval)
        /// Write on the connection, as one write.
        case write(PeerOutput)
        /// Close the connection.
        case close
        /// A message arrived.
        case deliver(ChatMessage)
        /// Report a line to the user.
        case log(String)
    }

    private enum Phase {
        case idle
        case connecting
        case connected(since: Timestamp)
        case waiting
        case ended
    }

    /// The ID it gives itself.
    package let name: String
    /// How many of the next heartbeats are omitted, though the connection stays open.
    package var heartbeatsToSkip = 0
    /// Whether a frame has been started but not finished: other frames wait.
    package private(set) var isInsideFrame = false

    private let heartbeat: ChatMessage
    private let interval: Interval
    private var backoff: Backoff
    private var phase = Phase.idle
    private var held: [PeerOutput] = []

    /// A client that is not connected.
    ///
    /// - Parameters:
    ///   - name: its ID, which ends in the letter of its heartbeats: `CinentA` sends `heartA`.
    ///   - options: scales the heartbeat's interval of 1 s and the delays between attempts, 0.25 s to 30 s.
    package init(name: String, options: PeerOptions) {
        self.name = name
        let letter = String(name.suffix(1))
        heartbeat = ChatMessage(type: "heart\(letter)", sender: name, target: "", body: Array("\(letter)心跳".utf8))
        interval = options.scaled(.seconds(1))
        backoff = Backoff(
            first: options.scaled(.seconds(0.25)), longest: options.scaled(.seconds(30)),
            steady: options.scaled(.seconds(10)))
    }

    /// Whether messages can be sent.
    package var isConnected: Bool {
        if case .connected = phase { true } else { false }
    }

    /// Connect for the first time.
    package mutating func start() -> [Action] {
        guard case .idle = phase else { return [] }
        phase = .connecting
        return [.connect]
    }

    /// The connection is established.
    package mutating func connected(at time: Timestamp) -> [Action] {
        guard case .connecting = phase else { return [.close] }
        phase = .connected(since: time)
        return [.log("\(name) connected")] + heartbeatDue()
    }

    /// The delay before the next attempt is over.
    package mutating func connectDue() -> [Action] {
        guard case .waiting = phase else { return [] }
        phase = .connecting
        return [.connect]
    }

    /// The interval since the last heartbeat is over.
    package mutating func heartbeatDue() -> [Action] {
        guard isConnected else { return [] }
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("\(name) leaves out a heartbeat"), .heartbeatLater(interval)]
        }
        return send(.messages([heartbeat.frame(from: .fromClient)])) + [.heartbeatLater(interval)]
    }

    /// Sends data. Without a connection it is lost.
    package mutating func send(_ output: PeerOutput) -> [Action] {
        guard isConnected else { return [] }
        if isInsideFrame {
            held.append(output)
            return []
        }
        return [.write(output)]
    }

    /// Sends the first part of a frame; until `endFrame` everything else waits.
    package mutating func beginFrame(with part: [UInt8]) -> [Action] {
        guard isConnected, !isInsideFrame else { return [] }
        isInsideFrame = true
        return [.write(.bytes(part))]
    }

    /// Sends a part of a frame that is neither its first nor its last.
    package mutating func continueFrame(with part: [UInt8]) -> [Action] {
        isInsideFrame ? [.write(.bytes(part))] : []
    }

    /// Sends the last part of a frame, together with other pending data.
    package mutating func endFrame(with part: [UInt8]) -> [Action] {
        guard isInsideFrame else { return [] }
        isInsideFrame = false
        defer { held = [] }
        return [.write(.bytes(part))] + held.map { .write($0) }
    }

    /// A message arrived on the connection, or bytes that are not a message.
    package mutating func received(_ input: PeerInput) -> [Action] {
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("\(name) got \(byteCount) B without frame: \(detail)")]
        case .message(let frame):
            let message = ChatMessage(frame, from: .fromServer)
            return [.log("\(name) got \(message)"), .deliver(message)]
        }
    }

    /// The connection is over, or could not be established.
    package mutating func lost(_ error: String?, at time: Timestamp) -> [Action] {
        let lifetime: Interval?
        switch phase {
        case .connecting: lifetime = nil
        case .connected(let since): lifetime = time - since
        case .idle, .waiting, .ended: return []
        }
        phase = .waiting
        isInsideFrame = false
        held = []
        let wait = backoff.next(after: lifetime)
        let why = error ?? "the server closed the connection"
        return [.log("\(name) \(why); connects again in \(wait.seconds) s"), .connectLater(wait)]
    }

    /// Disconnect for good.
    package mutating func end() -> [Action] {
        let wasConnected = isConnected
        phase = .ended
        return wasConnected ? [.log("\(name) disconnects"), .close] : []
    }
}
