import Framing
import Streams

/// The server of `len16-id`: logs users in, forwards chat by user id, and sends every connection a heartbeat every 5 s.
///
/// Our additions: any user id with a session is accepted; those that start with `actor` are actors. A chat to `server` with the
/// text `leave out N heartbeats` makes it omit them on that connection, for demonstrations.
package struct MessageServerState: PeerMachine {
    /// The actions that it asks for.
    package typealias Action = PeerAction<Alarm, Never>

    /// The alarms that it sets.
    package enum Alarm: Hashable, Sendable {
        /// Time for a connection's heartbeat.
        case heartbeat(connection: Int)
    }

    private struct Connection {
        var receiver: MessageReceiver
        var userID: String?
        var heartbeats: UInt32 = 0
        var heartbeatsToSkip = 0
    }

    private static let longestUserID = 64
    private static let mostHeartbeatsToSkip = 100

    private let format: Format
    private let interval: Interval
    private let hazards: Set<String>
    private var connections: [Int: Connection] = [:]

    /// A server without connections.
    ///
    /// - Parameter options: scales the heartbeat's interval of 5 s. `asPublished` may have what
    ///   `PublishedLengthReceiver` knows.
    package init(_ format: Format, options: PeerOptions) {
        self.format = format
        interval = options.scaled(.seconds(5))
        hazards = options.asPublished
    }

    package mutating func opened(_ number: Int, with peer: String, at time: Timestamp) -> [Action] {
        connections[number] = Connection(
            receiver: MessageReceiver(format, sending: .fromServer, asPublished: hazards))
        return [.log("#\(number) connected from \(peer)"), .alarm(.heartbeat(connection: number), after: interval)]
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [Action] {
        guard let connection = connections.removeValue(forKey: number) else { return [] }
        let user = connection.userID.map { " (\(printable($0)))" } ?? ""
        return [.log("#\(number)\(user) left" + (error.map { ": \($0)" } ?? ""))]
    }

    package mutating func due(_ alarm: Alarm, at time: Timestamp) -> [Action] {
        guard case .heartbeat(let number) = alarm, var connection = connections[number] else { return [] }
        defer { connections[number] = connection }
        let again = Action.alarm(alarm, after: interval)
        guard connection.heartbeatsToSkip == 0 else {
            connection.heartbeatsToSkip -= 1
            return [.log("#\(number) gets no heartbeat, as asked"), again]
        }
        connection.heartbeats &+= 1
        return [send(.heartbeat(sequence: connection.heartbeats), on: number, connection), again]
    }

    package mutating func received(_ bytes: [UInt8], on number: Int, at time: Timestamp) -> [Action] {
        let inputs = connections[number]?.receiver.receive(bytes, at: time) ?? []
        return inputs.flatMap { input -> [Action] in
            switch input {
            case .note(let note): return [.log("#\(number) \(note)")]
            case .message(let message): return [.log("#\(number) \(message)")] + received(message, on: number)
            }
        }
    }

    private mutating func received(_ message: UserMessage, on number: Int) -> [Action] {
        guard let connection = connections[number] else { return [] }
        switch message {
        case .login(let userID, let session):
            let isActor = userID.hasPrefix("actor")
            if let reason = refusal(userID, session) {
                let outcome = isActor ? UserMessage.Outcome.actorLoginFailed : .userLoginFailed
                return [send(.loginResult(outcome, reason: reason), on: number, connection)]
            }
            connections[number]?.userID = userID
            let outcome = isActor ? UserMessage.Outcome.actorLoginSucceeded : .userLoginSucceeded
            return [send(.loginResult(outcome, reason: ""), on: number, connection)]
        case .chat(_, let target, let text, let sentAt):
            guard let sender = connection.userID else { return [.log("#\(number) is not logged in: chat lost")] }
            if target == "server" { return command(text, on: number) }
            // The sender is taken from the login, not from the message.
            let forwarded = UserMessage.chat(from: sender, to: target, text: text, sentAt: sentAt)
            let targets = connections.filter { $0.value.userID == target }.sorted { $0.key < $1.key }
            if targets.isEmpty { return [.log("\(printable(target)) is not there: chat lost")] }
            return targets.map { send(forwarded, on: $0.key, $0.value) }
        case .loginResult, .heartbeat:
            return [.log("#\(number) sent what only servers send")]
        }
    }

    private func refusal(_ userID: String, _ session: String) -> String? {
        if userID.isEmpty || userID.utf8.count > Self.longestUserID {
            return "the user id has \(userID.utf8.count) bytes, expected 1 to \(Self.longestUserID)"
        }
        return session.isEmpty ? "no session" : nil
    }

    private mutating func command(_ text: String, on number: Int) -> [Action] {
        let words = text.split(separator: " ")
        guard words.count == 4, words[0] == "leave", words[1] == "out", words[3] == "heartbeats",
            let count = Int(words[2]), (0...Self.mostHeartbeatsToSkip).contains(count)
        else { return [.log("#\(number) asks for what the server does not know")] }
        connections[number]?.heartbeatsToSkip = count
        return []
    }

    private func send(_ message: UserMessage, on number: Int, _ connection: Connection) -> Action {
        guard let bytes = connection.receiver.encode(message) else {
            return .log("#\(number) a message that is too long is lost: \(message)")
        }
        return .write(bytes, connection: number)
    }
}
