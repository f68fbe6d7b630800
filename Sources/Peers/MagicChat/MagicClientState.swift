import Framing
import Streams

/// A client of `im-magic` as a state machine: logs in and pings without waiting for the answer, then pings regularly and chats.
package struct MagicClientState: ClientState {
    /// The state of its login.
    package enum Phase: Hashable, Sendable {
        case loggedOut
        case loggingIn
        case loggedIn
        /// The server kicked it.
        case kicked
    }

    package var name: String { userID }
    /// The user it logs in as.
    package let userID: String
    /// The state of its login.
    package private(set) var phase = Phase.loggedOut
    /// The chat texts that have arrived.
    package private(set) var chats: [String] = []
    /// How many pings were answered.
    package private(set) var answeredPings = 0
    /// How many of the next pings are omitted.
    package var pingsToSkip = 0

    private let options: PeerOptions
    private let seal: BodySeal

    /// A client that is not connected.
    ///
    /// - Parameter options: scales the ping's interval of 30 s and the login's time-out of 10 s.
    package init(userID: String, options: PeerOptions, seal: BodySeal) {
        (self.userID, self.options, self.seal) = (userID, options, seal)
    }

    package mutating func connected(at time: Timestamp) -> [ClientAction] {
        phase = .loggingIn
        let serialNo = "6B7A3E52-0D1C-4C61-9F0B-0000000A1001"
        return [
            send(.login(userID, serialNo: serialNo)), send(ping), nextPing,
            .wake(Self.login, after: options.tolerated(.seconds(10))),
        ]
    }

    package mutating func received(_ input: PeerInput, at time: Timestamp) -> [ClientAction] {
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("\(name) got \(byteCount) B without frame: \(detail)")]
        case .message(let frame):
            let message = MagicMessage(frame, from: .fromServer, opening: seal)
            switch message.command {
            case .login: return loginAnswered(message)
            case .ping:
                answeredPings += 1
                return []
            case .chat:
                let text = JSONValue(body: message.body)?["text"]?.string
                if let text { chats.append(text) }
                return [.log("\(name) got \(shown(message.body))")]
            case .kick:
                phase = .kicked
                return [.log("\(name) was kicked"), .close]
            case nil: return [.log("\(name) got command \(frame["command"] ?? "?"), ignored")]
            }
        }
    }

    package mutating func due(_ timer: PeerTimer, at time: Timestamp) -> [ClientAction] {
        switch timer {
        case Self.login where phase == .loggingIn:
            return [.log("\(name) was not logged in within \(options.tolerated(.seconds(10)).inSeconds)"), .close]
        case Self.ping:
            guard pingsToSkip == 0 else {
                pingsToSkip -= 1
                return [.log("\(name) leaves out a ping"), nextPing]
            }
            return [send(ping), nextPing]
        default: return []
        }
    }

    package mutating func lost(_ error: String?, at time: Timestamp) -> [ClientAction] {
        if phase != .kicked { phase = .loggedOut }
        return []
    }

    /// Forgets the texts that have arrived.
    package mutating func forgetChats() { chats = [] }

    /// A message's wire form. With the hazard `wide-id`, as the published client writes it.
    package func output(_ messages: [MagicMessage]) -> PeerOutput {
        options.asPublished.contains("wide-id")
            ? .bytes(messages.flatMap { $0.publishedFrame(sealing: seal) })
            : .messages(messages.map { $0.frame(from: .fromClient, sealing: seal) })
    }

    private mutating func loginAnswered(_ message: MagicMessage) -> [ClientAction] {
        guard JSONValue(body: message.body)?["code"]?.integer == 0 else {
            phase = .loggedOut
            return [.log("\(name) was refused: \(shown(message.body))"), .close]
        }
        phase = .loggedIn
        return [.log("\(name) is logged in")]
    }

    private static let ping: PeerTimer = "ping"
    private static let login: PeerTimer = "login"

    private var ping: MagicMessage { MagicMessage(.ping, from: userID) }
    private var nextPing: ClientAction { .wake(Self.ping, after: options.scaled(.seconds(30))) }

    private func send(_ message: MagicMessage) -> ClientAction { .send(output([message])) }
}
