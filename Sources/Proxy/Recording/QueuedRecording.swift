import NIOCore
import Streams

/// Records the events of one connection in the queue.
final class QueuedRecording: RelayRecording {
    private let queue: RecordingQueue
    let connection: Int
    private let eventLoop: any EventLoop

    init(_ queue: RecordingQueue, connection: Int, on eventLoop: any EventLoop) {
        self.queue = queue
        self.connection = connection
        self.eventLoop = eventLoop
    }

    var hasRoom: Bool { queue.hasRoom }

    func whenThereIsRoom(_ resume: @escaping () -> Void) {
        let resume = NIOLoopBound(resume, eventLoop: eventLoop)
        queue.whenThereIsRoom { [eventLoop] in eventLoop.execute { resume.value() } }
    }

    func received(_ buffer: ByteBuffer, from direction: Direction) {
        queue.receive(buffer, on: connection, from: direction)
    }

    func held(_ isHeld: Bool, from direction: Direction) {
        queue.hold(isHeld, on: connection, from: direction)
    }

    func noticed(_ notice: StreamNotice, from direction: Direction) {
        queue.notice(notice, on: connection, from: direction)
    }

    func finished(_ ending: Ending, from direction: Direction) {
        queue.finish(ending, on: connection, from: direction)
    }

    func expired() {
        queue.expire(connection)
    }
}
