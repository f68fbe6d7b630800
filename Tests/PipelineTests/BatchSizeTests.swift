import Streams
import Testing

@testable import Pipeline

/// Batches of stream events have a limited size, whatever is in them.
@Suite struct BatchSizeTests {
    @Test func copiesInNoticesCount() {
        let queue = BatchQueue(batches: 4)
        let receiver = BatchingReceiver(queue)
        let address = IPAddress(v4: 0x7f00_0001)
        let time = Timestamp(nanoseconds: 0)
        let connection = receiver.open(
            Opening(number: 1, time: time, client: Endpoint(address, 40_000), server: Endpoint(address, 80)))
        let bytes = [UInt8](repeating: 7, count: EventBatch.size / 2 - 1)
        func notice(_ notice: StreamNotice) {
            connection.noticed(notice, from: .fromClient, at: time, packet: 1)
        }
        notice(.late(offset: 0, bytes: bytes))
        notice(.conflict(offset: 0, kept: bytes, other: bytes))
        notice(.late(offset: 0, bytes: bytes))
        receiver.finish()
        let (first, last) = (queue.takeFilled(), queue.takeFilled())
        #expect(first.content.notices.count == 2 && !first.isLast)
        #expect(last.content.notices.count == 1 && last.isLast)
        // A semaphore may not end with less than it began with.
        queue.putFree(first)
        queue.putFree(last)
    }
}
