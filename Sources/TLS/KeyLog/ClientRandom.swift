import Streams

/// The 32 bytes of a ClientHello's `random` (RFC 8446 section 4.1.2), by which a key log names a connection.
package struct ClientRandom: Hashable, Sendable {
    /// Bytes of a random.
    package static let byteCount = 32

    private let words: (UInt64, UInt64, UInt64, UInt64)

    /// Nil unless there are 32 bytes.
    package init?(_ bytes: some Collection<UInt8>) {
        guard bytes.count == ClientRandom.byteCount else { return nil }
        var words: [UInt64] = [0, 0, 0, 0]
        for (at, byte) in bytes.enumerated() { words[at / 8] = words[at / 8] << 8 | UInt64(byte) }
        self.words = (words[0], words[1], words[2], words[3])
    }

    /// The 32 bytes.
    package var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> (56 - 8 * $0)) }
        }
    }

    /// Whether both are the same 32 bytes.
    package static func == (left: ClientRandom, right: ClientRandom) -> Bool {
        left.words == right.words
    }

    /// Hashes the bytes.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension ClientRandom: CustomStringConvertible {
    /// 64 hexadecimal digits, as key logs write it.
    package var description: String { Hexadecimal.text(bytes) }
}
