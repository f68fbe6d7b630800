import NIOCore
import Streams

/// What passes through the queue, and what does not.
extension RecordingQueue {
    /// A condition that the queue reports once, when it begins.
    package enum Notice: Hashable, Sendable {
        /// The recorder is too slow, and bytes are dropped.
        case dropping
        /// The recorder is too slow, and the relay waits for it.
        case waiting
    }

    /// An event, with its time. There is one for each read: what is large and rare is kept elsewhere.
    enum Event: Sendable {
        indirect case opened(Opening)
        case received(connection: ConnectionLeg, Direction, ByteBuffer, Timestamp)
        /// This many of the batch's bytes, after those of the events before, were received.
        case copied(connection: ConnectionLeg, Direction, Int, Timestamp)
        case dropped(connection: ConnectionLeg, Direction, Loss, Timestamp)
        case held(connection: ConnectionLeg, Direction, Bool, Timestamp)
        indirect case noticed(connection: ConnectionLeg, Direction, StreamNotice, Timestamp)
        case finished(connection: ConnectionLeg, Direction, Ending, Timestamp)
        /// The proxy ended it.
        case ended(connection: ConnectionLeg, CloseReason, by: Direction?, Timestamp)
        indirect case refused(Opening, reason: CloseReason, by: Direction, detail: String)
        /// Secrets of a TLS connection, as lines of a key log.
        case learned([UInt8], connection: ConnectionLeg?)
        /// This many connections opened and closed without being recorded, and the bytes relayed on them.
        case unrecorded(connections: Int, Loss)
    }

    /// Relayed data that was not recorded.
    package struct Loss: Hashable, Sendable {
        /// How many bytes.
        package var bytes = 0
        /// In how many chunks, each of which would have been a packet of the capture.
        package var chunks = 0

        static func + (left: Loss, right: Loss) -> Loss {
            Loss(bytes: left.bytes + right.bytes, chunks: left.chunks + right.chunks)
        }

        /// A single read of this many bytes.
        init(read bytes: Int) {
            self.init(bytes: bytes, chunks: (bytes + RecordingQueue.chunkLimit - 1) / RecordingQueue.chunkLimit)
        }

        init(bytes: Int = 0, chunks: Int = 0) {
            (self.bytes, self.chunks) = (bytes, chunks)
        }
    }

    /// The data that has not been recorded since the start, and how long the relay has waited to have it recorded.
    package struct Losses: Hashable, Sendable {
        /// On all connections.
        package var dropped = Loss()
        /// How many connections, or legs of them, lost bytes, excluding those that were not recorded at all.
        package var connections = 0
        /// How many connections were not recorded at all.
        package var unrecorded = 0
        /// How often the relay waited for the recorder.
        package var pauses = 0
        /// The total time it waited.
        package var paused = Interval(nanoseconds: 0)

        /// Nothing was lost, and nothing had to wait.
        package init() {}
    }

    /// What the recorder takes at once: all events up to `time`.
    struct Batch {
        var events: [Event] = []
        /// Those of the events `copied`.
        var bytes: [UInt8] = []
        /// Who waits for these events to be recorded.
        var awaited: [@Sendable () -> Void] = []
        var time = Timestamp(nanoseconds: 0)
        /// How many bytes of memory the events held.
        var cost = 0
        var isLast = false

        /// Empties it for the next events; small arrays are kept.
        mutating func empty() {
            events.removeAll(keepingCapacity: events.capacity <= 16_384)
            bytes.removeAll(keepingCapacity: bytes.capacity <= 1 << 20)
            awaited = []
        }
    }
}
