import Streams

/// A client of the chat relay: it sends heartbeats at once and then regularly, and reconnects after any error, with exponential
/// backoff.
package struct ChatClient: PeerMachine {
    package let setup: PeerSetup
    /// The ID it gives itself. It ends in the letter of its heartbeats: `CinentA` sends `heartA`.
    package let name: String
    /// How many of the next heartbeats are omitted, though the connection stays open.
    package var heartbeatsToSkip = 0
    /// The messages that should arrive.
    package var expected = ChatExpectation([])
    /// State that a published client keeps from one connection to the next.
    private let memory = PublishedHeadReader.Memory()

    /// A client that is not connected. Its heartbeats come every 1 s, scaled.
    package init(_ setup: PeerSetup, name: String) { (self.setup, self.name) = (setup, name) }

    package var retries: Backoff? { Backoff(setup.options) }

    package var shortfall: String? { expected.isFulfilled ? nil : expected.shortfall }

    package func codec() -> FrameCodec {
        let hazards = setup.options.asPublished
        return setup.codec(
            from: side, reader: hazards.isEmpty ? nil : PublishedHeadReader(hazards: hazards, memory: memory))
    }

    /// Sends messages, each in a write of its own.
    package func send(_ messages: [ChatMessage]) -> [PeerAction] {
        messages.map { .send(.messages([$0.frame(from: .fromClient)])) }
    }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] { due("heartbeat", at: now) }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        let next = PeerAction.wake("heartbeat", after: setup.options.scaled(.seconds(1)))
        guard heartbeatsToSkip == 0 else {
            heartbeatsToSkip -= 1
            return [.log("\(name) leaves out a heartbeat"), next]
        }
        let letter = String(name.suffix(1))
        let body = Array("\(letter)心跳".utf8)
        return send([ChatMessage(type: "heart\(letter)", sender: name, target: "", body: body)]) + [next]
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        let message = ChatMessage(frame, from: .fromServer)
        expected.offer(message)
        return [.log("\(name) got \(message)")]
    }
}
