import Streams

/// The server of `json-envelope` as a state machine: answers each envelope with one whose head is `received` (our choice) and
/// whose body is the same number.
package struct EnvelopeServerState: ServerState {
    /// A server without connections.
    package init() {}

    package mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
        [.log("#\(number) connected from \(client)")]
    }

    package mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] {
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("#\(number) \(byteCount) B without frame: \(detail)")]
        case .message(let message):
            guard let envelope = Envelope(message) else {
                return [.log("#\(number) no envelope: \(shown(message.body))")]
            }
            let answer = Envelope(head: "received", body: envelope.body)
            return [.log("#\(number) \(envelope)"), .send(.bytes(answer.bytes), connection: number)]
        }
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] {
        [.log("#\(number) left" + (error.map { ": \($0)" } ?? ""))]
    }
}

/// A client of `json-envelope`: collects the answers.
package struct EnvelopeClientState: ClientState {
    package let name = "client"
    /// The numbers that the server has confirmed.
    package private(set) var answered: Set<Int64> = []

    /// A client that has received nothing yet.
    package init() {}

    package mutating func received(_ input: PeerInput, at time: Timestamp) -> [ClientAction] {
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("\(name) got \(byteCount) B without frame: \(detail)")]
        case .message(let message):
            guard let envelope = Envelope(message) else {
                return [.log("\(name) got no envelope: \(shown(message.body))")]
            }
            if envelope.head == "received" { answered.insert(envelope.body) }
            return [.log("\(name) got \(envelope)")]
        }
    }
}
