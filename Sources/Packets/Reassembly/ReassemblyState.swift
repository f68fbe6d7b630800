import HeapModule
import Streams

/// The origin of an event: the time and the number of its packet.
struct PacketStamp {
    /// When it was captured.
    var time: Timestamp
    /// Its number, from 1.
    var number: Int
}

/// What all connections of a reassembler share.
struct ReassemblyState {
    /// Limits and choices.
    var options: ReassemblyOptions
    /// A copy of `SegmentNotice.quietAfter`, which would be a call into another module for each packet.
    let reportedPause = SegmentNotice.quietAfter
    /// The latest time seen.
    var now = Timestamp(nanoseconds: .min)
    /// Approximate memory use of held segments.
    var heldCost = 0
    /// What waits, by `SendingSide.place`.
    private(set) var heldSides: [HeldSide?] = []
    private var freePlaces: [Int32] = []
    /// The bytes last passed on, by place and direction.
    var histories: [History] = []
    /// How many bytes that is.
    var historyCost = 0
    /// The ranges declared missing, by place and direction, for as long as they may arrive late.
    var lost: [Int: LostRanges] = [:]
    /// When a connection that has a packet now becomes idle.
    var quietAt = Timestamp.distantFuture
    /// How many connections are open.
    var openCount = 0
    /// Whether something was declared missing or forgotten because of a limit shared by all connections.
    var reachedLimit = false
    /// Whether the source has ended: nothing is noted for later any more.
    var isEnding = false
    /// Gaps and unsettled starts to revisit: by `gapGrace`, `pickupGrace` and `resetGrace`.
    var gaps = DeadlineQueue()
    /// Starts to settle.
    var pickups = DeadlineQueue()
    /// Resets to settle.
    var resets = DeadlineQueue()
    /// Closed connections to forget.
    var closed = DeadlineQueue()
    /// Connections that may have been silent for too long.
    var quiet = DeadlineQueue()
    /// Idle connections, with the time; some of them have resumed.
    var idle = DeadlineQueue()
    /// How many connections are idle now.
    var idleCount = 0
    /// Whether there are more deadlines of gaps, starts and resets than can be needed.
    var hasStaleDeadlines = false
    /// How many deadlines are pending, of all kinds; stale ones count, too.
    var pendingDeadlines: Int { gaps.count + pickups.count + resets.count + closed.count + quiet.count + idle.count }
    /// The earliest of all those times, `idle` left out.
    var nextDeadline = Timestamp(nanoseconds: .max)
    /// Since when something has been waiting for its grace period to end: the resulting events will be that old.
    var heldSince = Timestamp.distantFuture
    /// What waits for longer than its own grace period, because it waited behind another gap before; until that period is over.
    private var older = Heap<Older>()

    private struct Older: Comparable {
        var since: Timestamp
        var deadline: Timestamp

        static func < (left: Older, right: Older) -> Bool {
            (left.since, left.deadline) < (right.since, right.deadline)
        }
    }
    /// The id of the current connection, for its deadlines.
    var current = 0

    /// Whether held segments take so much memory that the largest are passed on.
    var isNearMemoryLimit: Bool { heldCost > options.totalReorderingLimit - options.totalReorderingLimit / 8 }

    init(options: ReassemblyOptions) {
        self.options = options
    }

    /// What waits in a direction, if anything does.
    @inline(__always)
    func held(_ side: SendingSide) -> HeldSide? {
        side.isWaiting ? heldSides[Int(side.place)] : nil
    }

    /// What waits in a direction of the current connection, from now on.
    ///
    /// - Parameter number: the connection's.
    mutating func hold(_ side: inout SendingSide, _ direction: Direction, number: Int) -> HeldSide {
        if let held = held(side) { return held }
        let held = HeldSide(flow: current, number: number, direction)
        if let place = freePlaces.popLast() {
            side.place = place
            heldSides[Int(place)] = held
        } else {
            side.place = Int32(truncatingIfNeeded: heldSides.count)
            heldSides.append(held)
        }
        return held
    }

    /// Nothing waits any more.
    mutating func release(_ side: inout SendingSide) {
        guard side.isWaiting else { return }
        heldSides[Int(side.place)] = nil
        freePlaces.append(side.place)
        side.place = -1
    }

    /// Notes that a connection must be revisited.
    mutating func note(_ queue: WritableKeyPath<ReassemblyState, DeadlineQueue>, after interval: Interval, number: Int)
    {
        let time = now + interval
        self[keyPath: queue].append(DeadlineQueue.Entry(time: time, flow: current, number: number))
        // Where time stands still, none is ever due.
        if gaps.count + pickups.count + resets.count > 8 * openCount + 4096 { hasStaleDeadlines = true }
        nextDeadline = min(nextDeadline, time)
        updateHeldSince()
    }

    /// Notes a gap to revisit, and since when something has been waiting behind it.
    mutating func noteGap(since: Timestamp, number: Int) {
        if since < now { older.insert(Older(since: since, deadline: now + options.gapGrace)) }
        note(\.gaps, after: options.gapGrace, number: number)
    }

    /// Recomputes since when something has been held.
    mutating func updateHeldSince() {
        func start(_ queue: DeadlineQueue, _ grace: Interval) -> Timestamp {
            queue.count == 0 ? .distantFuture : queue.first + Interval(nanoseconds: -grace.nanoseconds)
        }
        while let first = older.min, first.deadline <= now { older.removeMin() }
        heldSince = min(
            min(start(gaps, options.gapGrace), start(pickups, options.pickupGrace)),
            min(start(resets, options.resetGrace), older.min?.since ?? .distantFuture))
    }
}
