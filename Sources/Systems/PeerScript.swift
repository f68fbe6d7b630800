import Streams

/// What clients do, step by step: a conversation or a demonstration. The clients are called by their places.
package struct PeerScript<Client: PeerMachine>: Sendable {
    /// A step.
    package enum Step: Sendable {
        /// Connects a client, new each time, and waits for the connection.
        case connect(Int)
        /// Disconnects a client; so does the end of the script.
        case disconnect(Int)
        /// Waits an interval of the script in seconds, scaled; at least as long as that.
        case wait(Double, atLeast: Interval = .seconds(0))
        /// Does something with a client that is connected.
        case tell(Int, @Sendable (_ client: inout Client, _ now: Timestamp) -> [PeerAction])
        /// Waits until a client is in a state: how long that may take by the protocol, in seconds; nil: it must be in it now.
        case until(Int, String, after: Double?, @Sendable (Client) -> Bool)
    }

    /// The clients, not connected.
    package let clients: [Client]
    /// Whether only the script decides what is in one segment; otherwise the kernel may merge.
    package let decidesSegments: Bool
    /// What comes first.
    package let opening: [Step]
    /// Each of `PeerOptions.rounds`; counted from 0.
    package let round: @Sendable (Int) -> [Step]
    /// What comes last.
    package let closing: [Step]

    /// A script.
    package init(
        _ clients: [Client], decidesSegments: Bool = true, opening: [Step] = [], closing: [Step] = [],
        round: @escaping @Sendable (Int) -> [Step] = { _ in [] }
    ) {
        (self.clients, self.decidesSegments) = (clients, decidesSegments)
        (self.opening, self.round, self.closing) = (opening, round, closing)
    }
}

extension PeerScript.Step {
    /// Waits until a client is in a state.
    static func until(_ client: Int, _ what: String, _ holds: @escaping @Sendable (Client) -> Bool) -> Self {
        .until(client, what, after: 0, holds)
    }

    /// Changes a client.
    static func set(_ client: Int, _ change: @escaping @Sendable (inout Client) -> Void) -> Self {
        .tell(client) { client, _ in
            change(&client)
            return []
        }
    }

    /// A client sends something in one write, or split at offsets, with pauses.
    static func send(_ client: Int, _ output: PeerOutput, cutAt places: [Int] = []) -> Self {
        .tell(client) { client, _ in
            places.isEmpty
                ? [.send(output)] : [.sendCut(output, at: places, pause: client.setup.options.partPause)]
        }
    }

    /// A client sends text in one write.
    static func send(_ client: Int, _ text: String) -> Self { .send(client, .bytes(Array(text.utf8))) }
}
