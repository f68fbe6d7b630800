import Framing
import Streams

/// The server of `im-magic` as a state machine: logs users in, answers pings, forwards chat, and kicks the existing session when
/// the same user logs in again (the last is our choice).
package struct MagicServerState: ServerState {
    private let seal: BodySeal
    /// The user logged in on a connection; nil before the login.
    private var users: [Int: String?] = [:]

    /// A server without connections.
    package init(seal: BodySeal) {
        self.seal = seal
    }

    package mutating func opened(_ number: Int, by client: String, at time: Timestamp) -> [ServerAction] {
        users[number] = .some(nil)
        return [.log("#\(number) connected from \(client)")]
    }

    package mutating func received(_ input: PeerInput, on number: Int, at time: Timestamp) -> [ServerAction] {
        guard let user = users[number] else { return [] }
        switch input {
        case .unframed(let byteCount, let detail):
            return [.log("#\(number) \(byteCount) B without frame: \(detail)")]
        case .message(let frame):
            let message = MagicMessage(frame, from: .fromClient, opening: seal)
            switch message.command {
            case .login: return logIn(message, on: number)
            case .ping: return [send(MagicMessage(.ping), to: number)]
            case .chat where user != nil: return forward(message, from: number)
            case .chat: return [.log("#\(number) chat before login, lost")]
            case .kick, nil: return [.log("#\(number) command \(frame["command"] ?? "?"), ignored")]
            }
        }
    }

    package mutating func closed(_ number: Int, error: String?, at time: Timestamp) -> [ServerAction] {
        guard users[number] != nil else { return [] }
        let left = "\(name(number)) left" + (error.map { ": \($0)" } ?? "")
        users[number] = nil
        return [.log(left)]
    }

    private mutating func logIn(_ message: MagicMessage, on number: Int) -> [ServerAction] {
        guard let user = JSONValue(body: message.body)?["userId"]?.string, !user.isEmpty else {
            return [
                .log("#\(number) login without user id, refused"), send(answer(code: 1), to: number),
            ]
        }
        var actions: [ServerAction] = []
        for other in users.filter({ $0.value == user && $0.key != number }).keys.sorted() {
            actions += [
                .log("\(name(other)) kicked: logged in on #\(number)"),
                send(MagicMessage(.kick, body: []), to: other), .close(connection: other),
            ]
            users[other] = nil
        }
        users[number] = user
        return actions + [.log("#\(number) is \(printable(user))"), send(answer(code: 0), to: number)]
    }

    private func forward(_ message: MagicMessage, from number: Int) -> [ServerAction] {
        let said = "\(name(number)) → \(printable(message.to)): \(shown(message.body))"
        let targets = users.filter { $0.value == message.to }.keys.sorted()
        guard !targets.isEmpty else { return [.log("\(said), lost: not logged in")] }
        return [.log(said)] + targets.map { send(MagicMessage(.chat, body: message.body), to: $0) }
    }

    private func answer(code: Int64) -> MagicMessage {
        MagicMessage(.login, body: JSONValue.body([("code", .integer(Int(code)))]))
    }

    private func send(_ message: MagicMessage, to number: Int) -> ServerAction {
        .send(.messages([message.frame(from: .fromServer, sealing: seal)]), connection: number)
    }

    private func name(_ number: Int) -> String {
        "#\(number)" + ((users[number] ?? nil).map { " (\(printable($0)))" } ?? "")
    }
}
