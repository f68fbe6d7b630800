import Framing
import Streams

/// A client of `im-magic`: logs in and pings without waiting for the answer, then pings regularly and chats.
package struct MagicClient: PeerMachine {
    /// The state of its login.
    package enum Phase: Hashable, Sendable {
        case loggedOut
        case loggingIn
        case loggedIn
        /// The server kicked it.
        case kicked
    }

    package let setup: PeerSetup
    /// The user it logs in as.
    package let name: String
    /// The state of its login.
    package private(set) var phase = Phase.loggedOut
    /// The chat texts that have arrived.
    package var chats: [String] = []
    /// How many pings were answered.
    package private(set) var answeredPings = 0
    /// How many of the next pings are omitted.
    package var pingsToSkip = 0

    /// A client that is not connected. It pings every 30 s, and gives up its login after 10 s, scaled.
    package init(_ setup: PeerSetup, name: String) { (self.setup, self.name) = (setup, name) }

    private var patience: Interval { setup.options.tolerated(.seconds(10)) }
    private var nextPing: PeerAction { .wake("ping", after: setup.options.scaled(.seconds(30))) }

    /// A message's wire form. With the hazard `wide-id`, as the published client writes it.
    package func output(_ messages: [MagicMessage]) -> PeerOutput {
        setup.has("wide-id")
            ? .bytes(messages.flatMap { $0.publishedFrame(setup) })
            : .messages(messages.map { $0.frame(from: .fromClient, setup) })
    }

    private func send(_ message: MagicMessage) -> PeerAction { .send(output([message])) }

    package mutating func opened(_ number: Int, at now: Timestamp) -> [PeerAction] {
        phase = .loggingIn
        let login = MagicMessage.login(name, serialNo: "6B7A3E52-0D1C-4C61-9F0B-0000000A1001")
        return [send(login), send(MagicMessage(.ping, from: name)), nextPing, .wake("login", after: patience)]
    }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        let message = MagicMessage(frame, from: .fromServer, setup)
        switch message.command {
        case .login where JSONValue(body: message.body)?["code"]?.integer == 0:
            phase = .loggedIn
            return [.log("\(name) is logged in")]
        case .login:
            phase = .loggedOut
            return [.log("\(name) was refused: \(shown(message.body))"), .close()]
        case .ping:
            answeredPings += 1
            return []
        case .chat:
            if let text = JSONValue(body: message.body)?["text"]?.string { chats.append(text) }
            return [.log("\(name) got \(shown(message.body))")]
        case .kick:
            phase = .kicked
            return [.log("\(name) was kicked"), .close()]
        case nil: return [.log("\(name) got command \(frame["command"] ?? "?"), ignored")]
        }
    }

    package mutating func due(_ timer: PeerTimer, at now: Timestamp) -> [PeerAction] {
        if timer == "login" {
            guard phase == .loggingIn else { return [] }
            return [.log("\(name) was not logged in within \(patience.inSeconds)"), .close()]
        }
        guard pingsToSkip == 0 else {
            pingsToSkip -= 1
            return [.log("\(name) leaves out a ping"), nextPing]
        }
        return [send(MagicMessage(.ping, from: name)), nextPing]
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        if phase != .kicked { phase = .loggedOut }
        return []
    }
}
