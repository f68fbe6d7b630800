import Streams

/// One line of an NSS key log: a label, the client's random, a secret (RFC 9850 section 2).
package struct KeyLogLine: Hashable, Sendable {
    /// What the secret is.
    package let label: KeyLogLabel
    /// Which connection it belongs to.
    package let clientRandom: ClientRandom
    /// The secret's bytes.
    package let secret: [UInt8]

    /// A line; nil if no secret of that label has this length.
    package init?(_ label: KeyLogLabel, _ clientRandom: ClientRandom, _ secret: [UInt8]) {
        guard label.allows(secret.count) else { return nil }
        (self.label, self.clientRandom, self.secret) = (label, clientRandom, secret)
    }

    /// The line as programs write it, with its line feed.
    package var text: String { "\(label.rawValue) \(clientRandom) \(Hexadecimal.text(secret))\n" }
}

/// What a line of a key log says.
enum KeyLogContent {
    /// A secret by client random.
    case secret(KeyLogLine)
    /// A master secret by session ID: `RSA Session-ID:… Master-Key:…`, as old OpenSSL programs write it.
    case session(id: [UInt8], masterSecret: [UInt8])
    /// Nothing, a comment, or a label that is not used here.
    case nothing
    /// Something that no key log has there.
    case malformed(String)

    /// Reads a line without its line ending.
    init(_ line: ArraySlice<UInt8>) {
        let words = line.split(whereSeparator: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") })
        guard let first = words.first, first.first != UInt8(ascii: "#") else {
            self = .nothing
            return
        }
        let name = String(decoding: first, as: UTF8.self)
        if name == "RSA" {
            self = KeyLogContent.session(words)
        } else if let label = KeyLogLabel(rawValue: name) {
            self = KeyLogContent.secret(label, words)
        } else if first.allSatisfy(KeyLogContent.isLabel) {
            self = .nothing
        } else {
            self = .malformed("it does not begin with a label")
        }
    }

    private static func isLabel(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
            UInt8(ascii: "-"):
            true
        default: false
        }
    }

    private static func secret(_ label: KeyLogLabel, _ words: [ArraySlice<UInt8>]) -> KeyLogContent {
        guard words.count == 3 else {
            return .malformed("\(label.rawValue) takes a random and a secret, not \(words.count - 1) words")
        }
        guard let bytes = Hexadecimal.bytes(words[1]), let random = ClientRandom(bytes) else {
            return .malformed("the random of \(label.rawValue) is not 64 hexadecimal digits")
        }
        guard let secret = Hexadecimal.bytes(words[2]) else {
            return .malformed("the secret of \(label.rawValue) is not hexadecimal")
        }
        guard let line = KeyLogLine(label, random, secret) else {
            let expected = label == .clientRandom ? "48" : "32 or 48"
            return .malformed("the secret of \(label.rawValue) has \(secret.count) bytes, not \(expected)")
        }
        return .secret(line)
    }

    /// `RSA Session-ID:… Master-Key:…`; the other kind of RSA line, an encrypted premaster secret, is not used.
    private static func session(_ words: [ArraySlice<UInt8>]) -> KeyLogContent {
        let (idPrefix, keyPrefix) = (Array("Session-ID:".utf8), Array("Master-Key:".utf8))
        guard words.count == 3, words[1].starts(with: idPrefix) else { return .nothing }
        guard words[2].starts(with: keyPrefix),
            let id = Hexadecimal.bytes(words[1].dropFirst(idPrefix.count)), (1...32).contains(id.count),
            let secret = Hexadecimal.bytes(words[2].dropFirst(keyPrefix.count)), secret.count == 48
        else { return .malformed("not a session ID of at most 32 bytes and a master key of 48") }
        return .session(id: id, masterSecret: secret)
    }
}
