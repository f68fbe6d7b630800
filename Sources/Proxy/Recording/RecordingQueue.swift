import Dispatch
import NIOCore
import Streams
import Synchronization

/// What waits between the relay, which must not wait, and the recorder, which may have to.
///
/// Its memory is bounded. When it is full the relay goes on and the queue only counts what it leaves out, until the
/// recorder has taken everything; so what is left out is one contiguous piece per direction. Times are taken here, so
/// that they never decrease in the order of the queue.
package final class RecordingQueue: Sendable {
    /// Something that happened, with its time.
    enum Event: Sendable {
        case opened(Opening)
        case received(connection: Int, Direction, ByteBuffer, Timestamp)
        case dropped(connection: Int, Direction, byteCount: Int, Timestamp)
        case finished(connection: Int, Direction, Ending, Timestamp)
        case refused(Opening, reason: CloseReason, detail: String)
    }

    /// What the recorder takes at once: everything up to `time`.
    struct Batch {
        var events: [Event]
        var time: Timestamp
        var isLast: Bool
    }

    /// The longest chunk, in bytes: what fits an IPv4 packet.
    static let chunkLimit = 65_495

    private struct State {
        var events: [Event] = []
        /// The memory that the chunks hold.
        var cost = 0
        var isFull = false
        var dropped: [Dropping: Int] = [:]
        var lastTime = Timestamp(nanoseconds: 0)
        var lastNumber = 0
        var isFinished = false
        var recorderWaits = false
    }

    private struct Dropping: Hashable {
        var connection: Int
        var direction: Direction
    }

    private let state = Mutex(State())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let limit: Int
    private let clock: @Sendable () -> Timestamp

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - limit: how many bytes of memory the chunks that wait may hold.
    ///   - clock: the time now.
    package init(limit: Int = 64 << 20, clock: @escaping @Sendable () -> Timestamp = WallClock.now) {
        self.limit = limit
        self.clock = clock
    }

    // MARK: The relay's side

    /// A connection opened; returns its number.
    func open(client: Endpoint, server: Endpoint) -> Int {
        add { state, time in
            let opening = Self.opening(&state, client, server, time)
            state.events.append(.opened(opening))
            return opening.number
        }
    }

    /// A client came, but did not get through to the server.
    func refuse(client: Endpoint, server: Endpoint, reason: CloseReason, detail: String) {
        add { state, time in
            let opening = Self.opening(&state, client, server, time)
            state.events.append(.refused(opening, reason: reason, detail: detail))
        }
    }

    private static func opening(
        _ state: inout State, _ client: Endpoint, _ server: Endpoint, _ time: Timestamp
    ) -> Opening {
        state.lastNumber += 1
        return Opening(number: state.lastNumber, time: time, client: client, server: server)
    }

    /// Bytes were relayed. Longer reads are cut into chunks that fit a packet.
    func receive(_ buffer: ByteBuffer, on connection: Int, from direction: Direction) {
        add { state, time in
            let count = buffer.readableBytes
            // A short read holds all of the buffer that it was read into.
            let cost = max(count, buffer.storageCapacity) + MemoryLayout<Event>.stride
            if state.isFull || state.cost + cost > limit {
                state.isFull = true
                state.dropped[Dropping(connection: connection, direction: direction), default: 0] += count
                return
            }
            state.cost += cost
            var rest = buffer
            while let chunk = rest.readSlice(length: min(rest.readableBytes, Self.chunkLimit)), chunk.readableBytes > 0
            {
                state.events.append(.received(connection: connection, direction, chunk, time))
            }
        }
    }

    /// A direction of a connection ended.
    func finish(_ ending: Ending, on connection: Int, from direction: Direction) {
        add { state, time in
            Self.flushDropped(&state, of: connection, at: time)
            state.events.append(.finished(connection: connection, direction, ending, time))
        }
    }

    private func add<Result: Sendable>(_ change: @Sendable (inout State, Timestamp) -> Result) -> Result {
        let (result, mustWake) = state.withLock { state in
            let time = max(clock(), state.lastTime)
            state.lastTime = time
            let result = change(&state, time)
            let mustWake = state.recorderWaits
            state.recorderWaits = false
            return (result, mustWake)
        }
        if mustWake { wakeUp.signal() }
        return result
    }

    /// Puts what was left out of a connection in its place.
    private static func flushDropped(_ state: inout State, of connection: Int?, at time: Timestamp) {
        let due = state.dropped.filter { connection == nil || $0.key.connection == connection }
            .sorted { ($0.key.connection, $0.key.direction.rawValue) < ($1.key.connection, $1.key.direction.rawValue) }
        for (key, count) in due {
            state.dropped[key] = nil
            state.events.append(.dropped(connection: key.connection, key.direction, byteCount: count, time))
        }
    }

    // MARK: The recorder's side

    /// No more will come.
    package func finish() {
        add { state, _ in state.isFinished = true }
    }

    /// Takes everything there is. Waits for something to happen, or for `deadline` to pass.
    func take(until deadline: Timestamp?) -> Batch {
        let mustWait = state.withLock { state in
            state.recorderWaits = state.events.isEmpty && state.dropped.isEmpty && !state.isFinished
            return state.recorderWaits
        }
        if mustWait {
            if let deadline {
                let wait = max(0, (deadline - clock()).nanoseconds)
                _ = wakeUp.wait(timeout: .now() + .nanoseconds(Int(min(wait, 60_000_000_000))))
            } else {
                wakeUp.wait()
            }
        }
        return state.withLock { state in
            state.recorderWaits = false
            let time = max(clock(), state.lastTime)
            state.lastTime = time
            Self.flushDropped(&state, of: nil, at: time)
            var events: [Event] = []
            swap(&events, &state.events)
            state.cost = 0
            state.isFull = false
            return Batch(events: events, time: time, isLast: state.isFinished)
        }
    }
}
