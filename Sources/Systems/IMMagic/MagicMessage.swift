import Framing
import Streams

/// A message of `im-magic`, its body in the clear.
package struct MagicMessage: Hashable, Sendable {
    /// Message types. 1 is published, the others are ours.
    package enum Command: Int64, Sendable {
        case login = 1
        case ping = 2
        case chat = 3
        case kick = 9
    }

    /// The type; nil for an unknown number.
    package var command: Command?
    /// The sender. Only clients' headers contain it.
    package var from: String
    /// The receiver; empty if there is no particular one. Only clients' headers contain it.
    package var to: String
    /// JSON, or nothing.
    package var body: [UInt8]

    /// A message.
    package init(_ command: Command, from: String = "", to: String = "", body: [UInt8] = Array("{}".utf8)) {
        (self.command, self.from, self.to, self.body) = (command, from, to, body)
    }

    /// The message in a frame.
    package init(_ frame: PeerMessage, from direction: Direction, _ setup: PeerSetup) {
        command = frame["command"].flatMap(Int64.init).flatMap(Command.init)
        from = frame["from"] ?? ""
        to = frame["to"] ?? ""
        body = setup.unsealed(frame.body, from: direction)
    }

    /// A client's login: the password as the MD5 of `password`, the serial number as a device's UUID.
    package static func login(_ userID: String, serialNo: String) -> MagicMessage {
        MagicMessage(
            .login, from: userID,
            body: JSONValue.body([
                ("userId", .text(userID)), ("userName", .text("user \(userID)")),
                ("password", .text("5f4dcc3b5aa765d61d8327deb882cf99")), ("deviceType", .text("iPhone")),
                ("serialNo", .text(serialNo)),
            ]))
    }

    /// A chat message. The server passes its body on as it is, so the body must name the sender.
    package static func chat(_ text: String, from: String, to: String) -> MagicMessage {
        MagicMessage(
            .chat, from: from, to: to,
            body: JSONValue.body([("from", .text(from)), ("to", .text(to)), ("text", .text(text))]))
    }

    /// The message as a frame of `direction`.
    package func frame(from direction: Direction, _ setup: PeerSetup) -> PeerMessage {
        var fields = [
            Field("version", .integer(1)), Field("serialization", .integer(1)),
            Field("command", .integer(command?.rawValue ?? 0)),
        ]
        if direction == .fromClient {
            fields += [Field("from", .text(from)), Field("to", .text(to)), Field("platform", .integer(1))]
        }
        return PeerMessage(fields: fields, body: setup.sealed(body, from: direction))
    }

    /// A client's frame as the published client writes it (hazard `wide-id`): the ids are padded to 25 *UTF-16 units*, so one
    /// that is not ASCII takes more than its 25 bytes, and all following fields are shifted.
    package func publishedFrame(_ setup: PeerSetup) -> [UInt8] {
        func padded(_ id: String) -> [UInt8] {
            Array(id.utf8) + [UInt8](repeating: 0, count: max(0, 25 - id.utf16.count))
        }
        let sealed = setup.sealed(body, from: .fromClient)
        let length = (0..<4).map { UInt8(truncatingIfNeeded: sealed.count >> (24 - 8 * $0)) }
        return [0x20, 0x17, 0x08, 0x17, 1, 1, UInt8(truncatingIfNeeded: command?.rawValue ?? 0)] + padded(from)
            + padded(to) + [1] + length + sealed
    }
}
