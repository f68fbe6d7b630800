import Framing
import Streams

/// A message of the chat relay, without its size.
package struct ChatMessage: Hashable, Sendable {
    /// `txt`, `img`, or a heartbeat's `heartA`.
    package var type: String
    /// The sender: `CinentID` on the way to the server, `sourceClient` after it. Empty if the head does not name it.
    package var sender: String
    /// The target: `targetID`, which heads from the server lack.
    package var target: String?
    /// UTF-8, or a picture.
    package var body: [UInt8]

    /// A message.
    package init(type: String, sender: String, target: String? = nil, body: [UInt8]) {
        self.type = type
        self.sender = sender
        self.target = target
        self.body = body
    }

    /// A text.
    package init(text: String, from sender: String, to target: String? = nil) {
        self.init(type: "txt", sender: sender, target: target, body: Array(text.utf8))
    }

    /// A message from a frame of `direction`.
    package init(_ message: PeerMessage, from direction: Direction) {
        self.init(
            type: message["type"] ?? "", sender: message[Self.senderField(direction)] ?? "",
            target: direction == .fromClient ? message["targetID"] : nil, body: message.body)
    }

    /// The message as a frame of `direction`. The codec adds the size.
    package func frame(from direction: Direction) -> PeerMessage {
        var fields = [Field("type", .text(type)), Field(Self.senderField(direction), .text(sender))]
        if direction == .fromClient { fields.append(Field("targetID", .text(target ?? ""))) }
        return PeerMessage(fields: fields, body: body)
    }

    /// Whether it only shows that its sender is alive.
    package var isHeartbeat: Bool { type.hasPrefix("heart") }

    /// The key is misspelt on the wire.
    private static func senderField(_ direction: Direction) -> String {
        direction == .fromClient ? "CinentID" : "sourceClient"
    }
}

extension ChatMessage: CustomStringConvertible {
    /// In readable form, control characters escaped: `txt CinentA → CinentB, 5 B: "Hello"`.
    package var description: String {
        let route = target.map { "\(printable(sender)) → \(printable($0))" } ?? "from \(printable(sender))"
        let content: String
        if body.starts(with: [0xff, 0xd8]) {
            content = "JPEG"
        } else if let text = String(validating: body, as: UTF8.self) {
            content = FieldValue.text(text).shortDescription
        } else {
            content = "bytes"
        }
        return "\(printable(type)) \(route), \(body.count) B: \(content)"
    }
}
