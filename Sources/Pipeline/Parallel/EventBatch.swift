import Streams

/// Stream events in a row, as the thread that reads hands them to one that decodes.
///
/// Sendable because it goes from hand to hand: `BatchQueue` gives it to one side at a time, and nobody keeps it.
package final class EventBatch: @unchecked Sendable {
    var content = StreamEventBuffer()
    /// Whether no other comes behind it.
    package internal(set) var isLast = false

    init() {
        content.bytes.reserveCapacity(Self.size)
    }

    /// A batch is handed on when it holds this many bytes.
    static let size = 256 << 10
    /// … or this many events.
    static let mostEvents = 8_192

    func empty() { content.removeAll(keepingBytes: 4 * Self.size) }
}
