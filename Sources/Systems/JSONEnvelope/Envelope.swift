import Framing

/// A message of `json-envelope`: `{"head":"phoneNum","body":13133334444,"end":11}`.
package struct Envelope: Hashable, Sendable, CustomStringConvertible {
    /// Its subject.
    package var head: String
    /// A phone number.
    package var body: Int64

    /// An envelope.
    package init(head: String, body: Int64) {
        self.head = head
        self.body = body
    }

    /// The envelope in a message; nil if it lacks a head or a number.
    package init?(_ message: PeerMessage) {
        let value = JSONValue(body: message.body)
        guard let head = value?["head"]?.string, let body = value?["body"]?.integer else { return nil }
        self.init(head: head, body: Int64(body))
    }

    /// The phone numbers that clients send, from 13133334444 on.
    package static func phoneNumber(_ index: Int) -> Envelope {
        Envelope(head: "phoneNum", body: 13_133_334_444 + Int64(index))
    }

    /// Its wire form; `end` is the number of digits, as in the published example.
    package var bytes: [UInt8] {
        JSONValue.body([
            ("head", .text(head)), ("body", .integer(Int(body))), ("end", .integer(String(body).count)),
        ])
    }

    /// In readable form.
    package var description: String { "\(printable(head)) \(body)" }
}
