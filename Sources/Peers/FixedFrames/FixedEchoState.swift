import Streams

/// The server of `fixed` as a state machine: sends every frame back.
package struct FixedEchoState: ServerState {
    /// A server without connections.
    package init() {}

    package mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
        [.log("#\(number) connected from \(client)")]
    }

    package mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] {
        switch input {
        case .message(let frame):
            return [.log("#\(number) \(shown(frame.body))"), .send(.bytes(frame.body), connection: number)]
        case .unframed(let byteCount, let detail):
            return [.log("#\(number) \(byteCount) B without frame: \(detail)")]
        }
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] {
        [.log("#\(number) left" + (error.map { ": \($0)" } ?? ""))]
    }
}

/// A client of `fixed`: collects the echoes.
package struct FixedClientState: ClientState {
    package let name: String
    /// The bytes of all echoed frames.
    package private(set) var echoed: [UInt8] = []

    /// A client that has received nothing yet.
    package init(name: String) {
        self.name = name
    }

    package mutating func received(_ input: PeerInput, at time: Timestamp) -> [ClientAction] {
        switch input {
        case .message(let frame):
            echoed += frame.body
            return [.log("\(name) got \(shown(frame.body))")]
        case .unframed(let byteCount, let detail):
            return [.log("\(name) got \(byteCount) B without frame: \(detail)")]
        }
    }
}
