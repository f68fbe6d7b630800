import Framing

/// A frame as peers handle it: its head's fields and its body.
package struct PeerMessage: Hashable, Sendable {
    /// The head's fields.
    package var fields: [Field]
    /// The body, in its wire form.
    package var body: [UInt8]

    /// A frame.
    package init(fields: [Field], body: [UInt8]) {
        self.fields = fields
        self.body = body
    }

    /// A field as text; nil if there is none of that name, or it is neither text nor an integer.
    package subscript(name: String) -> String? {
        switch fields.first(where: { $0.name == name })?.value {
        case .text(let text): text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        default: nil
        }
    }
}

/// A peer's input from its codec.
package enum PeerInput: Hashable, Sendable {
    /// A frame.
    case message(PeerMessage)
    /// Bytes that are not a frame, in pieces; `detail` is the reason in words.
    case unframed(byteCount: Int, detail: String)
}

/// A peer's output to its codec. Each is one write.
package enum PeerOutput: Hashable, Sendable {
    /// Frames, joined.
    case messages([PeerMessage])
    /// Bytes as they are: a part of a frame.
    case bytes([UInt8])
}
