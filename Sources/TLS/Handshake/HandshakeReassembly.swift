import Streams

/// Puts handshake messages together from the records that carry them (RFC 8446 section 5.1).
///
/// Keeps at most one incomplete message, of bounded length.
struct HandshakeReassembly: Sendable {
    /// What comes next.
    enum Step: Equatable {
        case needsMore
        case message(HandshakeMessage)
        /// A message says it is longer than any that is read; nothing more is read until `reset`.
        case tooLong(Int)
    }

    private let limit: Int
    private var held: [UInt8] = []
    private var isGivenUp = false

    init(limit: Int = HandshakeType.longestMessage) {
        self.limit = limit
    }

    /// Whether a message has begun and not ended.
    var isWithinMessage: Bool { !held.isEmpty }

    /// How many bytes are kept.
    var heldBytes: Int { held.count }

    /// Adds a record's content.
    mutating func add(_ fragment: RawSpan) {
        guard !isGivenUp else { return }
        held.append(contentsOf: fragment)
    }

    /// The next whole message.
    mutating func next() -> Step {
        guard !isGivenUp, held.count >= 4 else { return .needsMore }
        let length = Int(held[1]) << 16 | Int(held[2]) << 8 | Int(held[3])
        guard length <= limit else {
            (held, isGivenUp) = ([], true)
            return .tooLong(length)
        }
        guard held.count >= 4 + length else { return .needsMore }
        let message = HandshakeMessage(type: held[0], body: Array(held[4..<4 + length])[...])
        held.removeFirst(4 + length)
        return .message(message)
    }

    /// Forgets an incomplete message: after a gap.
    mutating func reset() {
        (held, isGivenUp) = ([], false)
    }
}
