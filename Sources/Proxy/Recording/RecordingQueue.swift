import Dispatch
import NIOCore
import Streams
import Synchronization

/// The queue between the relay, which must not wait, and the recorder, which may have to.
///
/// Its memory is bounded. When it is full, the relay continues, and the queue only remembers what each open connection has
/// missed, until the recorder has taken everything: how many bytes, and that it opened or ended. So the omitted data is one
/// contiguous piece per direction. Connections that opened and closed meanwhile are only counted. Times are taken here, so that
/// they never decrease in the order of the queue.
///
/// With `isLossless` nothing is omitted: when the queue is full there is no room, and relays do not read until there is. Data
/// that has already been read is still accepted, which is at most one read per connection.
package final class RecordingQueue: Sendable {
    /// The longest chunk, in bytes: what fits in an IPv4 packet.
    static let chunkLimit = 65_495

    /// Reads of at most this many bytes are copied: their buffers are not kept, and serve for the next read.
    static let copyLimit = 1_024

    private struct State {
        var events: [Event] = []
        /// Those of the events `copied`.
        var bytes: [UInt8] = []
        /// The memory that the events hold.
        var cost = 0
        var isFull = false
        var connections = RecordedConnections()
        /// The connections that have missed something since the queue became full.
        var behind: Set<Handle> = []
        var unrecorded = (connections: 0, loss: Loss())
        var losses = Losses()
        /// The notice to report as soon as the lock is free.
        var notice: Notice?
        var noticed: Set<Notice> = []
        /// Since when the relay waits, and the callbacks of the waiting connections.
        var pausedSince: Timestamp?
        var waiting: [@Sendable () -> Void] = []
        /// The relay is being stopped: nothing waits any more.
        var isReleased = false

        mutating func report(_ notice: Notice) {
            if noticed.insert(notice).inserted { self.notice = notice }
        }
        var lastTime = Timestamp(nanoseconds: 0)
        var lastConnection = 0
        /// Who waits for what the queue has to be recorded.
        var awaited: [@Sendable () -> Void] = []
        var isFinished = false
        var recorderWaits = false
    }

    private let state = Mutex(State())
    /// Held while a connection opens.
    private let opening = Mutex(())
    private let wakeUp = DispatchSemaphore(value: 0)
    private let limit: Int
    private let isLossless: Bool
    private let clock: @Sendable () -> Timestamp
    private let report: @Sendable (Notice) -> Void
    /// Whether relays have to wait.
    private let isHolding = Atomic(false)

    /// An empty queue.
    ///
    /// - Parameters:
    ///   - limit: how many bytes of memory queued events may hold.
    ///   - isLossless: whether relays wait for the recorder instead of continuing without being recorded.
    ///   - clock: returns the current time.
    ///   - report: called once for each notice, on a relay's thread: it must not wait.
    package init(
        limit: Int = 64 << 20, isLossless: Bool = false, clock: @escaping @Sendable () -> Timestamp = WallClock.now,
        report: @escaping @Sendable (Notice) -> Void = { _ in }
    ) {
        self.limit = limit
        self.isLossless = isLossless
        self.clock = clock
        self.report = report
    }

    /// What has not been recorded so far.
    package var losses: Losses { state.withLock { $0.losses } }

    // MARK: Waiting for the recorder

    /// Whether relays may read.
    var hasRoom: Bool { !isHolding.load(ordering: .relaxed) }

    /// Calls back when there is room, from any thread; immediately if there is.
    func whenThereIsRoom(_ resume: @escaping @Sendable () -> Void) {
        let mustWait = state.withLock { state in
            guard state.pausedSince != nil else { return false }
            if !state.isReleased { state.waiting.append(resume) }
            return true
        }
        if !mustWait { resume() }
    }

    /// The relay ends: waiting callbacks are no longer called.
    func releaseRelay() {
        state.withLock { state in
            state.isReleased = true
            state.waiting = []
        }
    }

    // MARK: The relay's side

    /// Opens a connection whose number must be known before. No other one opens like this meanwhile: connections of all event
    /// loops open in the order of their numbers, which are those in the trace.
    ///
    /// - Parameter open: opens the connection with this number.
    func reserve<Opened>(_ open: (Int) -> Opened) -> Opened {
        opening.withLock { _ in
            open(
                state.withLock { state in
                    state.lastConnection += 1
                    return state.lastConnection
                })
        }
    }

    /// A connection opened; returns its handle in this queue, whose number is its number in the trace. The numbers of connections that
    /// open and close while the queue is full are left out there: stages and commands know them already.
    ///
    /// - Parameters:
    ///   - number: what `reserve` passed; nil: a new one.
    ///   - leg: `in` if what is passed on is recorded, too (`openPassedOn`).
    ///   - tls: what is known about the TLS that the proxy removed from it.
    @discardableResult
    func open(
        _ number: Int? = nil, leg: Leg? = nil, client: Endpoint, server: Endpoint, tls: TLSFacts? = nil
    ) -> Handle {
        add { state, time in
            let connection = number ?? state.lastConnection + 1
            state.lastConnection = max(state.lastConnection, connection)
            return open(connection, Recorded(client: client, server: server, tls: tls, leg: leg), &state, time)
        }
    }

    /// The leg of a connection on which the proxy passes on what it may have changed; returns its handle, whose number is the negative
    /// one of what was received.
    func openPassedOn(of received: Handle, client: Endpoint, server: Endpoint) -> Handle {
        add { state, time in
            let recorded = Recorded(client: client, server: server, tls: nil, leg: .out)
            let passedOn = open(-received.number, recorded, &state, time)
            state.connections[received]?.passedOn = passedOn
            return passedOn
        }
    }

    private func open(_ number: Int, _ recorded: Recorded, _ state: inout State, _ time: Timestamp) -> Handle {
        var recorded = recorded
        let isTaken = takes(Self.eventCost, &state)
        if isTaken { Self.announce(number, &recorded, &state, time) }
        let connection = state.connections.add(number, recorded)
        if !isTaken { state.behind.insert(connection) }
        return connection
    }

    /// A client connected, but it was not relayed.
    ///
    /// - Parameter side: the side that is the reason for that.
    func refuse(
        client: Endpoint, server: Endpoint, reason: CloseReason, by side: Direction = .fromServer, detail: String
    ) {
        // It has a number, too: not between that of a connection and its opening.
        opening.withLock { _ in
            add { state, time in
                guard takes(Self.eventCost + detail.utf8.count, &state) else {
                    Self.overlook(Loss(), &state)
                    return
                }
                state.lastConnection += 1
                let opening = Opening(number: state.lastConnection, time: time, client: client, server: server)
                state.events.append(.refused(opening, reason: reason, by: side, detail: detail))
            }
        }
    }

    /// Secrets of a TLS connection became known: whatever needs them is recorded later.
    func learn(_ lines: [UInt8], of connection: Handle) {
        add { state, _ in
            let recorded = state.connections[connection]
            guard takes(Self.eventCost + lines.count, &state) || isLossless else {
                // Without them everything that follows is lost. Of connections that came while there was no room, and are gone,
                // nothing follows.
                if recorded != nil {
                    state.connections[connection]?.secrets = (recorded?.secrets ?? []) + lines
                    state.behind.insert(connection)
                }
                return
            }
            state.events.append(.learned(lines, connection: recorded?.number))
            if recorded != nil, recorded?.number == nil {
                state.connections[connection]?.secrets = (recorded?.secrets ?? []) + lines
            }
        }
    }

    /// Bytes were relayed. Reads longer than a packet are split.
    ///
    /// - Parameter passedOn: the leg on which they were passed on as they are; nil: what is passed on is not recorded, or by
    ///   itself.
    func receive(_ buffer: ByteBuffer, on connection: Handle, and passedOn: Handle? = nil, from direction: Direction) {
        add { state, time in
            take(buffer, on: connection, from: direction, &state, time)
            if let passedOn { take(buffer, on: passedOn, from: direction, &state, time) }
        }
    }

    private func take(
        _ buffer: ByteBuffer, on connection: Handle, from direction: Direction, _ state: inout State, _ time: Timestamp
    ) {
        let count = buffer.readableBytes
        // What is not copied retains the whole buffer that it was read into.
        let memory = count <= Self.copyLimit ? count : max(count, buffer.storageCapacity)
        guard takes(memory + Self.eventCost, &state), let number = state.connections.traceNumber(connection) else {
            Self.drop(count, on: connection, from: direction, &state)
            return
        }
        guard count > Self.copyLimit else {
            if count == 0 { return }
            buffer.withUnsafeReadableBytes { state.bytes.append(contentsOf: $0) }
            state.events.append(.copied(connection: number, direction, count, time))
            return
        }
        guard count > Self.chunkLimit else {
            state.events.append(.received(connection: number, direction, buffer, time))
            return
        }
        var rest = buffer
        while let chunk = rest.readSlice(length: min(rest.readableBytes, Self.chunkLimit)), chunk.readableBytes > 0 {
            state.events.append(.received(connection: number, direction, chunk, time))
        }
    }

    private static func drop(_ count: Int, on connection: Handle, from direction: Direction, _ state: inout State) {
        let loss = Loss(read: count)
        if var recorded = state.connections[connection] {
            if !recorded.isIncomplete { state.losses.connections += 1 }
            recorded.isIncomplete = true
            recorded.dropped[direction] = recorded.dropped[direction] + loss
            state.connections[connection] = recorded
            state.behind.insert(connection)
        } else {
            // A leg whose connection was not recorded.
            state.unrecorded.loss = state.unrecorded.loss + loss
        }
        state.losses.dropped = state.losses.dropped + loss
        state.report(.dropping)
    }

    /// A direction is held because the other side does not read, or it continues.
    func hold(_ isHeld: Bool, on connection: Handle, from direction: Direction) {
        add { state, time in
            guard var recorded = state.connections[connection] else { return }
            recorded.isHeld[direction] = isHeld
            if takes(Self.eventCost, &state) {
                Self.reportHeld(&recorded, &state, time)
            } else {
                state.behind.insert(connection)
            }
            state.connections[connection] = recorded
        }
    }

    /// Something other than bytes was noticed. It is not recorded while the queue is full.
    func notice(_ notice: StreamNotice, on connection: Handle, from direction: Direction) {
        add { state, time in
            guard let number = state.connections.traceNumber(connection) else {
                // It is reported when the connection is.
                if case .tls(let facts) = notice { state.connections[connection]?.tls = facts }
                return
            }
            // What a connection's plaintext is depends on its TLS, of which there is one notice.
            var cost = Self.eventCost
            if case .action(let report) = notice { cost += report.before.count + report.after.count }
            let isTaken = takes(cost, &state)
            if case .tls = notice {} else if !isTaken { return }
            state.events.append(.noticed(connection: number, direction, notice, time))
        }
    }

    /// Notifies the recorder of which directions are held, if it does not know yet.
    private static func reportHeld(_ recorded: inout Recorded, _ state: inout State, _ time: Timestamp) {
        guard let number = recorded.number else { return }
        for direction in Direction.allCases where recorded.isHeld[direction] != recorded.isReportedHeld[direction] {
            recorded.isReportedHeld[direction] = recorded.isHeld[direction]
            state.events.append(.held(connection: number, direction, recorded.isHeld[direction], time))
        }
    }

    /// A direction of a connection ended.
    func finish(_ ending: Ending, on connection: Handle, from direction: Direction) {
        end(connection, .finished(direction, ending))
    }

    /// The proxy ended a connection.
    ///
    /// - Parameter side: the side that is responsible; nil if neither is.
    func end(_ connection: Handle, because reason: CloseReason, by side: Direction? = nil) {
        end(connection, .ended(reason, by: side))
    }

    private func end(_ connection: Handle, _ end: Recorded.End) {
        add { state, time in
            guard var recorded = state.connections[connection], !recorded.isOver else { return }
            recorded.end(end)
            if takes(Self.eventCost, &state), let number = recorded.number {
                state.events.append(Self.event(end, number, time))
                state.connections[connection] = recorded.isOver ? nil : recorded
            } else if recorded.isOver, recorded.number == nil {
                Self.overlook(connection, recorded, &state)
                // What was passed on has no number without it.
                if let leg = recorded.passedOn, let passedOn = state.connections[leg] {
                    Self.overlook(leg, passedOn, &state)
                }
            } else {
                recorded.endings.append(end)
                state.connections[connection] = recorded
                state.behind.insert(connection)
            }
        }
    }

    private static func overlook(_ connection: Handle, _ recorded: Recorded, _ state: inout State) {
        state.connections[connection] = nil
        state.behind.remove(connection)
        overlook(
            recorded.dropped.fromClient + recorded.dropped.fromServer, &state, isConnection: recorded.leg != .out)
        if recorded.isIncomplete { state.losses.connections -= 1 }
    }

    /// A connection opened and closed.
    private static func overlook(_ loss: Loss, _ state: inout State, isConnection: Bool = true) {
        state.unrecorded.loss = state.unrecorded.loss + loss
        if isConnection {
            state.unrecorded.connections += 1
            state.losses.unrecorded += 1
        }
        state.report(.dropping)
    }

    private static let eventCost = MemoryLayout<Event>.stride

    /// Whether there is room for an event; once there is none, no event is accepted until all have been taken.
    private func takes(_ cost: Int, _ state: inout State) -> Bool {
        if state.cost + cost > limit {
            if isLossless { pause(&state) } else { state.isFull = true }
        }
        if state.isFull { return false }
        state.cost += cost
        return true
    }

    /// From now on relays wait.
    private func pause(_ state: inout State) {
        guard state.pausedSince == nil else { return }
        state.pausedSince = state.lastTime
        state.losses.pauses += 1
        isHolding.store(true, ordering: .relaxed)
        state.report(.waiting)
    }

    /// Relays continue; returns the callbacks that wait for that.
    private func resume(_ state: inout State, at time: Timestamp) -> [@Sendable () -> Void] {
        guard let since = state.pausedSince else { return [] }
        state.pausedSince = nil
        state.losses.paused = Interval(
            nanoseconds: state.losses.paused.nanoseconds + max(0, time.nanoseconds - since.nanoseconds))
        isHolding.store(false, ordering: .relaxed)
        defer { state.waiting = [] }
        return state.waiting
    }

    private static func announce(
        _ connection: Int, _ recorded: inout Recorded, _ state: inout State, _ time: Timestamp
    ) {
        // Both legs have one number.
        let opening = Opening(
            number: abs(connection), leg: recorded.leg, time: time, client: recorded.client, server: recorded.server)
        recorded.number = opening.connectionLeg
        state.events.append(.opened(opening))
        if let tls = recorded.tls {
            state.events.append(.noticed(connection: opening.connectionLeg, .fromServer, .tls(tls), time))
        }
    }

    private static func event(_ end: Recorded.End, _ number: ConnectionLeg, _ time: Timestamp) -> Event {
        switch end {
        case .finished(let direction, let ending): .finished(connection: number, direction, ending, time)
        case .ended(let reason, let side): .ended(connection: number, reason, by: side, time)
        }
    }

    private func add<Result: Sendable>(_ change: @Sendable (inout State, Timestamp) -> Result) -> Result {
        let (result, mustWake, notice) = state.withLock { state in
            let time = max(clock(), state.lastTime)
            state.lastTime = time
            let result = change(&state, time)
            let mustWake = state.recorderWaits
            state.recorderWaits = false
            defer { state.notice = nil }
            return (result, mustWake, state.notice)
        }
        if mustWake { wakeUp.signal() }
        if let notice { report(notice) }
        return result
    }

    /// Reports what connections have missed, after all other events.
    private static func catchUp(_ state: inout State, at time: Timestamp) {
        // What was received comes before what was passed on.
        for connection in state.behind.sorted() {
            guard var recorded = state.connections[connection] else { continue }
            if recorded.number == nil { announce(connection.number, &recorded, &state, time) }
            guard let number = recorded.number else { continue }
            // Later files of a series need them, too.
            if let lines = recorded.secrets { state.events.append(.learned(lines, connection: number)) }
            recorded.secrets = nil
            for direction in Direction.allCases where recorded.dropped[direction].bytes > 0 {
                state.events.append(.dropped(connection: number, direction, recorded.dropped[direction], time))
            }
            if !recorded.isOver { reportHeld(&recorded, &state, time) }
            state.events += recorded.endings.map { event($0, number, time) }
            recorded.dropped = PerDirection(fromClient: Loss(), fromServer: Loss())
            recorded.endings = []
            state.connections[connection] = recorded.isOver ? nil : recorded
        }
        state.behind.removeAll(keepingCapacity: false)
        if state.unrecorded.connections > 0 || state.unrecorded.loss.bytes > 0 {
            state.events.append(.unrecorded(connections: state.unrecorded.connections, state.unrecorded.loss))
            state.unrecorded = (0, Loss())
        }
    }

    // MARK: The recorder's side

    /// The share of the memory that is in use.
    package var fill: Double { state.withLock { $0.isFull ? 1 : Double($0.cost) / Double(max(limit, 1)) } }

    /// Whether the recorder should not pause: the queue fills up or ends, or somebody waits until everything is recorded.
    package var isUrgent: Bool {
        state.withLock { $0.isFull || $0.isFinished || $0.cost > limit / 16 || !$0.awaited.isEmpty }
    }

    /// Calls back on the recorder's thread when everything that has been relayed so far is recorded. If the recording has been
    /// finished, that is at once.
    func whenRecorded(_ report: @escaping @Sendable () -> Void) {
        let isFinished = add { state, _ in
            if !state.isFinished { state.awaited.append(report) }
            return state.isFinished
        }
        if isFinished { report() }
    }

    /// No more events will follow.
    package func finish() {
        add { state, _ in state.isFinished = true }
    }

    /// Takes all events. Waits for something to happen, or for `deadline` to pass.
    ///
    /// - Parameter batch: the events, instead of those that it has.
    func take(until deadline: Timestamp?, into batch: inout Batch) {
        batch.empty()
        let mustWait = state.withLock { state in
            state.recorderWaits =
                state.events.isEmpty && !state.isFull && !state.isFinished && state.awaited.isEmpty
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
        let waiting = state.withLock { state in
            state.recorderWaits = false
            let time = max(clock(), state.lastTime)
            state.lastTime = time
            Self.catchUp(&state, at: time)
            swap(&batch.events, &state.events)
            swap(&batch.bytes, &state.bytes)
            swap(&batch.awaited, &state.awaited)
            (batch.time, batch.cost, batch.isLast) = (time, state.cost, state.isFinished)
            state.cost = 0
            state.isFull = false
            return resume(&state, at: time)
        }
        for resume in waiting { resume() }
    }
}
