import Streams

/// A client of `len16-id`: logs in on connecting; every 30 s it checks that a heartbeat has arrived since the last check, and if
/// not, disconnects and logs in again.
package struct MessageClient: PeerMachine {
    /// A chat that arrived.
    package struct Chat: Hashable, Sendable {
        /// The sender.
        package var from: String
        /// The text.
        package var text: String
    }

    private static let mostChats = 1_000

    package let setup: PeerSetup
    /// The user's id.
    package let name: String
    /// The server's reply to the login; nil before it arrives.
    package private(set) var outcome: UserMessage.Outcome?
    /// How many heartbeats have arrived.
    package var heartbeats = 0
    /// The newest chats.
    package var chats: [Chat] = []
    private let session: String
    private var hasHeardHeartbeat = false

    /// A client that is not connected. Its checks come every 30 s, scaled.
    package init(_ setup: PeerSetup, name: String, session: String) {
        (self.setup, self.name, self.session) = (setup, name, session)
    }

    package var retries: Backoff? { Backoff(setup.options) }

    private var interval: Interval { setup.options.tolerated(.seconds(30)) }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        hasHeardHeartbeat = false
        let login = UserMessage.login(userID: name, session: session)
        return [.send(.messages([login.frame])), .wake("check", after: interval)]
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        let message = UserMessage(frame)
        switch message {
        case .loginResult(let outcome, _): self.outcome = outcome
        case .heartbeat:
            heartbeats += 1
            hasHeardHeartbeat = true
        case .chat(let from, _, let text, _):
            chats = (chats + [Chat(from: from, text: text)]).suffix(Self.mostChats)
        case .login, nil: break
        }
        return [.log("\(name) got \(message.map { "\($0)" } ?? UserMessage.none(in: frame))")]
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        defer { hasHeardHeartbeat = false }
        return hasHeardHeartbeat
            ? [.wake("check", after: interval)]
            : [.log("\(name) heard no heartbeat for \(interval.inSeconds): disconnects"), .close()]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        outcome = nil
        return []
    }
}
