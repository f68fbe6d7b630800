import NIOCore
import Streams

@testable import Proxy

extension RecordingQueue {
    /// Takes all events, waiting as `take(until:into:)` does; those with copied bytes have buffers of their own.
    func take(until deadline: Timestamp?) -> (events: [Event], isLast: Bool) {
        var batch = Batch()
        take(until: deadline, into: &batch)
        var bytes = ByteBuffer(bytes: batch.bytes)
        let events = batch.events.map { event -> Event in
            guard case .copied(let connection, let direction, let count, let time) = event,
                let own = bytes.readSlice(length: count)
            else { return event }
            return .received(connection: connection, direction, own, time)
        }
        return (events, batch.isLast)
    }
}
