import Framing
import Streams
import Trace

/// What was evicted to stay within the memory limit.
enum Eviction {
    /// This many bytes of an incomplete frame.
    case evictedFrame(Int)
    /// The bytes held to recognise the format.
    case evictedDetection(Int)
    /// The bytes held of a TLS handshake.
    case evictedHandshake(Int)

    private var parts: (what: String, held: Int) {
        switch self {
        case .evictedFrame(let held): ("frame", held)
        case .evictedDetection(let held): ("detection", held)
        case .evictedHandshake(let held): ("handshake", held)
        }
    }

    /// For people.
    func message(_ direction: Direction, limit: Int) -> String {
        let reached = "the memory limit of \(Quantities.size(limit)) was reached (--memory-limit)"
        return switch self {
        case .evictedFrame(let held):
            "\(reached): \(Quantities.size(held)) of an incomplete frame from the \(direction.sender) are unframed"
        case .evictedDetection(let held):
            "\(reached): \(Quantities.size(held)) were held to recognise the format; it was decided by what had been seen"
        case .evictedHandshake(let held):
            "\(reached): \(Quantities.size(held)) were held of a TLS handshake; it is followed no further, and nothing is decrypted"
        }
    }

    /// For programs.
    func data(limit: Int) -> [Field] {
        [
            Field("evicted", .text(parts.what)), Field("held", .integer(Int64(parts.held))),
            Field("limit", .integer(Int64(limit))),
        ]
    }
}

extension MemoryBudget {
    /// Why bytes are unframed, in words.
    var cause: String { "the memory limit was reached" }
}
