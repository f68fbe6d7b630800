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
    /// Where in `held` the next message begins.
    private var at = 0
    private var isGivenUp = false

    init(limit: Int = HandshakeType.longestMessage) {
        self.limit = limit
    }

    /// Whether a message has begun and not ended.
    var isWithinMessage: Bool { at < held.count }

    /// How many bytes are kept.
    var heldBytes: Int { held.count - at }

    /// Adds a record's content.
    mutating func add(_ fragment: RawSpan) {
        guard !isGivenUp else { return }
        held.append(contentsOf: fragment)
    }

    /// The next whole message.
    mutating func next() -> Step {
        guard !isGivenUp, held.count - at >= 4 else { return wait() }
        let length = Int(held[at + 1]) << 16 | Int(held[at + 2]) << 8 | Int(held[at + 3])
        guard length <= limit else {
            (held, at, isGivenUp) = ([], 0, true)
            return .tooLong(length)
        }
        let (start, end) = (at + 4, at + 4 + length)
        guard held.count >= end else { return wait() }
        let message = HandshakeMessage(type: held[at], body: Array(held[start..<end])[...])
        at = end
        return .message(message)
    }

    /// Forgets what was read: once a record, since it costs a move of the rest.
    private mutating func wait() -> Step {
        held.removeFirst(at)
        at = 0
        return .needsMore
    }

    /// Forgets an incomplete message: after a gap.
    mutating func reset() {
        (held, at, isGivenUp) = ([], 0, false)
    }
}
