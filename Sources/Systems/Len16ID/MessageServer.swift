import Streams

/// The server of `len16-id`: logs users in, forwards chat by user id, and sends every connection a heartbeat every 5 s, scaled.
///
/// Our additions: any user id with a session is accepted; those that start with `actor` are actors. A chat to `server` with the
/// text `leave out N heartbeats` makes it omit them on that connection, for demonstrations.
package struct MessageServer: PeerMachine {
    private struct User {
        var id: String?
        var heartbeats: UInt32 = 0
        var heartbeatsToSkip = 0
    }

    private static let longestUserID = 64
    private static let mostHeartbeatsToSkip = 100

    package let setup: PeerSetup
    private var users: [Int: User] = [:]

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package func label(_ number: Int) -> String? { users[number]?.id }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        users[number] = User()
        return [nextHeartbeat(number)]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        users[number] = nil
        return []
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        let number = timer.connection
        guard var user = users[number] else { return [] }
        defer { users[number] = user }
        guard user.heartbeatsToSkip == 0 else {
            user.heartbeatsToSkip -= 1
            return [.log("#\(number) gets no heartbeat, as asked"), nextHeartbeat(number)]
        }
        user.heartbeats &+= 1
        return [send(.heartbeat(sequence: user.heartbeats), to: number), nextHeartbeat(number)]
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        guard let message = UserMessage(frame) else { return [.log("#\(number) \(UserMessage.none(in: frame))")] }
        return [.log("#\(number) \(message)")] + take(message, on: number)
    }

    private mutating func take(_ message: UserMessage, on number: Int) -> [PeerAction] {
        switch message {
        case .login(let userID, let session):
            let isActor = userID.hasPrefix("actor")
            let reason = refusal(userID, session)
            if reason == nil { users[number]?.id = userID }
            let outcome: UserMessage.Outcome =
                reason == nil
                ? isActor ? .actorLoginSucceeded : .userLoginSucceeded : isActor ? .actorLoginFailed : .userLoginFailed
            return [send(.loginResult(outcome, reason: reason ?? ""), to: number)]
        case .chat(_, let target, let text, let sentAt):
            guard let sender = users[number]?.id else { return [.log("#\(number) is not logged in: chat lost")] }
            if target == "server" { return command(text, on: number) }
            // The sender is taken from the login, not from the message.
            let forwarded = UserMessage.chat(from: sender, to: target, text: text, sentAt: sentAt)
            let targets = users.filter { $0.value.id == target }.keys.sorted()
            if targets.isEmpty { return [.log("\(printable(target)) is not there: chat lost")] }
            return targets.map { send(forwarded, to: $0) }
        case .loginResult, .heartbeat: return [.log("#\(number) sent what only servers send")]
        }
    }

    private func refusal(_ userID: String, _ session: String) -> String? {
        if userID.isEmpty || userID.utf8.count > Self.longestUserID {
            return "the user id has \(userID.utf8.count) bytes, expected 1 to \(Self.longestUserID)"
        }
        return session.isEmpty ? "no session" : nil
    }

    private mutating func command(_ text: String, on number: Int) -> [PeerAction] {
        let words = text.split(separator: " ")
        guard words.count == 4, words[0] == "leave", words[1] == "out", words[3] == "heartbeats",
            let count = Int(words[2]), (0...Self.mostHeartbeatsToSkip).contains(count)
        else { return [.log("#\(number) asks for what the server does not know")] }
        users[number]?.heartbeatsToSkip = count
        return []
    }

    private func nextHeartbeat(_ number: Int) -> PeerAction {
        .wake(PeerTimer("heartbeat", number), after: setup.options.scaled(.seconds(5)))
    }

    private func send(_ message: UserMessage, to number: Int) -> PeerAction {
        .send(.messages([message.frame]), connection: number)
    }
}
