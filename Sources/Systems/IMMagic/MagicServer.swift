import Framing
import Streams

/// The server of `im-magic`: logs users in, answers pings, forwards chat, and kicks the existing session when the same user logs
/// in again (the last is our choice).
package struct MagicServer: PeerMachine {
    package let setup: PeerSetup
    /// The user logged in on a connection.
    private var users: [Int: String] = [:]

    /// A server without connections.
    package init(_ setup: PeerSetup) { self.setup = setup }

    package func label(_ number: Int) -> String? { users[number] }

    package mutating func take(_ frame: PeerMessage, on number: Int, at now: Timestamp) -> [PeerAction] {
        let message = MagicMessage(frame, from: .fromClient, setup)
        switch message.command {
        case .login: return logIn(message, on: number)
        case .ping: return [send(MagicMessage(.ping), to: number)]
        case .chat where users[number] != nil: return forward(message, from: number)
        case .chat: return [.log("#\(number) chat before login, lost")]
        case .kick, nil: return [.log("#\(number) command \(frame["command"] ?? "?"), ignored")]
        }
    }

    package mutating func closed(_ number: Int, at now: Timestamp) -> [PeerAction] {
        users[number] = nil
        return []
    }

    private mutating func logIn(_ message: MagicMessage, on number: Int) -> [PeerAction] {
        guard let user = JSONValue(body: message.body)?["userId"]?.string, !user.isEmpty else {
            return [.log("#\(number) login without user id, refused"), send(answer(code: 1), to: number)]
        }
        var actions: [PeerAction] = []
        for other in users.filter({ $0.value == user && $0.key != number }).keys.sorted() {
            actions += [
                .log("\(who(other)) kicked: logged in on #\(number)"),
                send(MagicMessage(.kick, body: []), to: other), .close(connection: other),
            ]
            users[other] = nil
        }
        users[number] = user
        return actions + [.log("#\(number) is \(printable(user))"), send(answer(code: 0), to: number)]
    }

    private func forward(_ message: MagicMessage, from number: Int) -> [PeerAction] {
        let said = "\(who(number)) → \(printable(message.to)): \(shown(message.body))"
        let targets = users.filter { $0.value == message.to }.keys.sorted()
        guard !targets.isEmpty else { return [.log("\(said), lost: not logged in")] }
        return [.log(said)] + targets.map { send(MagicMessage(.chat, body: message.body), to: $0) }
    }

    private func answer(code: Int64) -> MagicMessage {
        MagicMessage(.login, body: JSONValue.body([("code", .integer(Int(code)))]))
    }

    private func send(_ message: MagicMessage, to number: Int) -> PeerAction {
        .send(.messages([message.frame(from: .fromServer, setup)]), connection: number)
    }
}
