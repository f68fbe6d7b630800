import Streams

/// The server of `json-envelope`: answers each envelope with one whose head is `received` (our choice) and whose body is the same
/// number.
package struct EnvelopeServer: PeerMachine {
    package let setup: PeerSetup

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        guard let envelope = Envelope(message) else { return [.log("#\(number) no envelope: \(shown(message.body))")] }
        let answer = Envelope(head: "received", body: envelope.body)
        return [.log("#\(number) \(envelope)"), .send(.bytes(answer.bytes), connection: number)]
    }
}

/// A client of `json-envelope`: collects the answers.
package struct EnvelopeClient: PeerMachine {
    package let setup: PeerSetup
    package let name = "client"
    /// The numbers that the server has confirmed.
    package private(set) var answered: Set<Int64> = []

    /// A client that has received nothing yet.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package mutating func take(_ message: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        guard let envelope = Envelope(message) else { return [.log("\(name) got no envelope: \(shown(message.body))")] }
        if envelope.head == "received" { answered.insert(envelope.body) }
        return [.log("\(name) got \(envelope)")]
    }
}
