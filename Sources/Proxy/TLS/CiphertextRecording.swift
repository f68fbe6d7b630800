import NIOCore
import Streams

/// Records the ciphertext of one socket under its own addresses, and the secrets that decrypt it.
final class CiphertextRecording {
    private let queue: RecordingQueue
    private let connection: RecordingQueue.Handle
    /// The direction of what the proxy sends.
    private let proxySends: Direction
    private var finished: Set<Direction> = []

    /// A recording of a socket, whose ends are the one that connected and the one that it reached.
    init(_ queue: RecordingQueue, on leg: TLSRequest.Leg, _ ends: (client: Endpoint, server: Endpoint)) {
        self.queue = queue
        proxySends = leg == .client ? .fromServer : .fromClient
        connection = queue.open(client: ends.client, server: ends.server)
    }

    func learned(_ lines: [UInt8]) { queue.learn(lines, of: connection) }

    func received(_ buffer: ByteBuffer) { take(buffer, from: proxySends.opposite) }

    func sent(_ buffer: ByteBuffer) { take(buffer, from: proxySends) }

    private func take(_ buffer: ByteBuffer, from direction: Direction) {
        // What is written to a socket that is closed goes nowhere.
        guard buffer.readableBytes > 0, !finished.contains(direction) else { return }
        queue.receive(buffer, on: connection, from: direction)
    }

    /// One side sent FIN.
    func finished(isProxy: Bool) {
        let direction = isProxy ? proxySends : proxySends.opposite
        if finished.insert(direction).inserted { queue.finish(.fin, on: connection, from: direction) }
    }

    /// The proxy resets the connection.
    func reset() {
        guard finished.count < 2 else { return }
        queue.finish(.reset, on: connection, from: proxySends)
        finished = Set(Direction.allCases)
    }

    /// The socket is closed.
    func closed() {
        guard finished.count < 2 else { return }
        // NIO closes a socket at once, without an event, when its second direction ends.
        let isClean = !finished.isEmpty
        let last = finished.contains(proxySends) ? proxySends.opposite : proxySends
        queue.finish(isClean ? .fin : .reset, on: connection, from: isClean ? last : proxySends.opposite)
        finished = Set(Direction.allCases)
    }
}
