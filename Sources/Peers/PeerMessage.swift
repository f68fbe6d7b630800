import Framing

/// A frame as peers deal with it: its head's fields and its body.
package struct PeerMessage: Hashable, Sendable {
    /// The head's fields.
    package var fields: [Field]
    /// The body, as it lies on the wire.
    package var body: [UInt8]

    /// A frame.
    package init(fields: [Field], body: [UInt8]) {
        self.fields = fields
        self.body = body
    }

    /// A field as text; nil where there is none of that name, or it is neither text nor a whole number.
    package subscript(name: String) -> String? {
        switch fields.first(where: { $0.name == name })?.value {
        case .text(let text): text
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        default: nil
        }
    }
}

/// What a peer gets from its codec.
package enum PeerInput: Hashable, Sendable {
    /// A frame.
    case message(PeerMessage)
    /// Bytes that are no frame, in pieces; `detail` is for people.
    case unframed(byteCount: Int, detail: String)
}

/// What a peer gives to its codec. Each is one write.
package enum PeerOutput: Hashable, Sendable {
    /// Frames, joined.
    case messages([PeerMessage])
    /// Bytes as they are: a part of a frame.
    case bytes([UInt8])
}
