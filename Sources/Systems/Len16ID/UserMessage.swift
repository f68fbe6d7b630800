import Framing

/// A message of `len16-id` (fixtures/len16-id/messages.proto is its schema).
package enum UserMessage: Hashable, Sendable {
    /// The outcome of a login.
    package enum Outcome: UInt64, Sendable {
        case unspecified = 0
        case userLoginSucceeded = 1
        case userLoginFailed = 2
        case actorLoginSucceeded = 3
        case actorLoginFailed = 4
    }

    /// 1, from the client. The session is a secret.
    case login(userID: String, session: String)
    /// 2, from the server.
    case loginResult(Outcome, reason: String)
    /// 3, either way. `sentAt` is in milliseconds since 1970.
    case chat(from: String, to: String, text: String, sentAt: UInt64)
    /// 100, from the server.
    case heartbeat(sequence: UInt32)

    /// The message in a frame; nil if its id is unknown or its body is not Protobuf.
    package init?(_ frame: PeerMessage) {
        guard let message = Protobuf(frame.body) else { return nil }
        switch frame["id"] {
        case "1": self = .login(userID: message.text(1), session: message.text(2))
        case "2": self = .loginResult(Outcome(rawValue: message.number(1)) ?? .unspecified, reason: message.text(2))
        case "3":
            self = .chat(
                from: message.text(1), to: message.text(2), text: message.text(3), sentAt: message.number(4))
        case "100": self = .heartbeat(sequence: UInt32(truncatingIfNeeded: message.number(1)))
        default: return nil
        }
    }

    /// In words: a frame that is none.
    static func none(in frame: PeerMessage) -> String {
        "a frame with id \(frame["id"] ?? "?") and \(frame.body.count) B that is no message"
    }

    /// The message as a frame. The codec adds the length.
    package var frame: PeerMessage {
        let (id, message) = content
        return PeerMessage(fields: [Field("id", .integer(id)), Field("flag", .integer(0))], body: message.bytes)
    }

    private var content: (id: Int64, message: Protobuf) {
        func text(_ text: String) -> Protobuf.Value { .bytes(Array(text.utf8)) }
        switch self {
        case .login(let userID, let session): return (1, Protobuf([1: text(userID), 2: text(session)]))
        case .loginResult(let outcome, let reason):
            return (2, Protobuf([1: .varint(outcome.rawValue), 2: text(reason)]))
        case .chat(let from, let to, let said, let sentAt):
            return (3, Protobuf([1: text(from), 2: text(to), 3: text(said), 4: .varint(sentAt)]))
        case .heartbeat(let sequence): return (100, Protobuf([1: .varint(UInt64(sequence))]))
        }
    }
}

extension UserMessage: CustomStringConvertible {
    /// In readable form, without the session: `chat ann → ben: "Hello"`.
    package var description: String {
        switch self {
        case .login(let userID, _): "login of \(printable(userID))"
        case .loginResult(let outcome, let reason):
            "login result: \(outcome)" + (reason.isEmpty ? "" : ", \(printable(reason))")
        case .chat(let from, let to, let text, _):
            "chat \(printable(from)) → \(printable(to)): \(FieldValue.text(text).shortDescription)"
        case .heartbeat(let sequence): "heartbeat \(sequence)"
        }
    }
}
