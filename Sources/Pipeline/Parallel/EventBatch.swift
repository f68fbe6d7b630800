import Streams

/// Stream events in a row, as the thread that reads hands them to one that decodes.
///
/// Sendable because it goes from hand to hand: `BatchQueue` gives it to one side at a time, and nobody keeps it.
package final class EventBatch: @unchecked Sendable {
    /// One event; what does not fit in is in `openings`, `closings`, `notices`, or, for bytes, in `bytes`.
    struct Event {
        enum Kind: UInt8 {
            case opened, received, missing, noticed, finished, closed, advanced
        }

        var kind: Kind
        var direction = Direction.fromClient
        /// The connection's place among those that are open.
        var slot: Int32 = 0
        var time = Timestamp(nanoseconds: 0)
        var packet = 0
        /// Whether time passes to the event's before it happens.
        var advances = false
        /// Where the bytes start, or where what belongs to the event is; and how many.
        var place = 0
        var count = 0
    }

    var events: [Event] = []
    var bytes: [UInt8] = []
    var openings: [Opening] = []
    var closings: [Closing] = []
    var notices: [StreamNotice] = []
    /// Whether no other comes behind it.
    package internal(set) var isLast = false

    init() {
        bytes.reserveCapacity(Self.size)
    }

    /// A batch is handed on when it holds so many bytes.
    static let size = 256 << 10
    /// … or so many events.
    static let mostEvents = 8_192

    func empty() {
        events.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4 * Self.size)
        openings.removeAll()
        closings.removeAll()
        notices.removeAll()
    }
}
