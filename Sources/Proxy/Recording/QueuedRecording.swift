import NIOCore
import Streams

/// Records the events of one connection in the queue.
final class QueuedRecording: RelayRecording {
    private let queue: RecordingQueue
    private let connection: RecordingQueue.Handle
    private let eventLoop: any EventLoop
    /// The directions whose end was received.
    private var endsReceived: Set<Direction> = []
    /// What stages pass on; nil if the connection has no stages.
    private var leg: PassedOn?

    private struct PassedOn {
        let handle: RecordingQueue.Handle
        /// The directions of which nothing is passed on any more.
        var ended: Set<Direction> = []
    }

    /// A recording of a connection that opened just now.
    ///
    /// - Parameters:
    ///   - connection: its handle in the queue.
    ///   - passedOn: the handle of what stages pass on; nil if the connection has no stages.
    init(
        _ queue: RecordingQueue, connection: RecordingQueue.Handle, passedOn: RecordingQueue.Handle?,
        on eventLoop: any EventLoop
    ) {
        self.queue = queue
        self.connection = connection
        self.eventLoop = eventLoop
        leg = passedOn.map { PassedOn(handle: $0) }
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
        // What stages do when nothing is received any more is recorded with what they pass on: that has not ended.
        if case .action = notice, endsReceived.count == 2, let leg, leg.ended.count < 2 {
            return queue.notice(notice, on: leg.handle, from: direction)
        }
        queue.notice(notice, on: connection, from: direction)
    }

    func finished(_ ending: Ending, from direction: Direction) {
        endsReceived.formUnion(ending == .reset ? Direction.allCases : [direction])
        queue.finish(ending, on: connection, from: direction)
    }

    func refused(_ side: Direction) {
        endsReceived = Set(Direction.allCases)
        queue.end(connection, because: .tlsFailed, by: side)
    }

    func ended(_ reason: CloseReason) {
        endsReceived = Set(Direction.allCases)
        queue.end(connection, because: reason)
        guard let leg, leg.ended.count < 2 else { return }
        queue.end(leg.handle, because: reason)
        self.leg?.ended = Set(Direction.allCases)
    }

    func relayed(_ buffer: ByteBuffer, from direction: Direction, isReceived: Bool) {
        guard isReceived, let leg, !leg.ended.contains(direction) else {
            if isReceived { received(buffer, from: direction) }
            return passedOn(buffer, from: direction)
        }
        queue.receive(buffer, on: connection, and: leg.handle, from: direction)
    }

    func passedOn(_ buffer: ByteBuffer, from direction: Direction) {
        guard let leg, !leg.ended.contains(direction) else { return }
        queue.receive(buffer, on: leg.handle, from: direction)
    }

    func passedOn(_ ending: Ending, from direction: Direction) {
        guard let leg, leg.ended.count < 2 else { return }
        switch ending {
        case .fin:
            guard self.leg?.ended.insert(direction).inserted ?? false else { return }
        case .reset: self.leg?.ended = Set(Direction.allCases)
        }
        queue.finish(ending, on: leg.handle, from: direction)
    }

    func passedOnLast() { passedOn(.reset, from: .fromServer) }
}
