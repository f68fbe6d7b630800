import Streams

/// Consecutive stream events, as the reading thread hands them to a decoding thread.
///
/// Sendable because it has one owner at a time: `BatchQueue` gives it to one side, and no one keeps it.
package final class EventBatch: @unchecked Sendable {
    var content = StreamEventBuffer()
    /// Whether this is the last batch.
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
