import Framing
import Streams

/// A message of the chat relay, without its size.
package struct ChatMessage: Hashable, Sendable {
    /// `txt`, `img`, or a heartbeat's `heartA`.
    package var type: String
    /// Who it is from: `CinentID` on its way to the server, `sourceClient` behind it. Empty where the head does not say.
    package var sender: String
    /// Who it is for: `targetID`, which heads from the server lack.
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

    /// A message as the frame that `direction` has for it.
    package init(_ message: PeerMessage, from direction: Direction) {
        self.init(
            type: message["type"] ?? "", sender: message[Self.senderField(direction)] ?? "",
            target: direction == .fromClient ? message["targetID"] : nil, body: message.body)
    }

    /// The frame that `direction` has for the message. The codec adds the size.
    package func frame(from direction: Direction) -> PeerMessage {
        var fields = [Field("type", .text(type)), Field(Self.senderField(direction), .text(sender))]
        if direction == .fromClient { fields.append(Field("targetID", .text(target ?? ""))) }
        return PeerMessage(fields: fields, body: body)
    }

    /// Whether it only says that its sender lives.
    package var isHeartbeat: Bool { type.hasPrefix("heart") }

    /// The key is misspelt on the wire.
    private static func senderField(_ direction: Direction) -> String {
        direction == .fromClient ? "CinentID" : "sourceClient"
    }
}

extension ChatMessage: CustomStringConvertible {
    /// For people, control characters escaped: `txt CinentA → CinentB, 5 B: "Hello"`.
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

/// Text from the network as it may be shown: escaped and cut; `""` where it is empty.
func printable(_ text: String) -> String {
    text.isEmpty ? "\"\"" : String(FieldValue.text(text).shortDescription.dropFirst().dropLast())
}

/// Bytes from the network as they may be shown: text escaped and cut, or how many they are.
func shown(_ bytes: [UInt8]) -> String {
    String(validating: bytes, as: UTF8.self).map { FieldValue.text($0).shortDescription } ?? "\(bytes.count) B"
}
