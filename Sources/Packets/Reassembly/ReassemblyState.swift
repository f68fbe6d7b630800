import HeapModule
import Streams

/// Where an event comes from: the time and the number of its packet.
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
    /// The latest time seen.
    var now = Timestamp(nanoseconds: .min)
    /// Memory that held segments take, about.
    var heldCost = 0
    /// What waits, by `SendingSide.place`.
    private(set) var heldSides: [HeldSide?] = []
    private var freePlaces: [Int32] = []
    /// What was passed on last, by place and direction.
    var histories: [Int: History] = [:]
    /// How many bytes that is.
    var historyCost = 0
    /// What was declared missing, by place and direction, for as long as it may come late.
    var lost: [Int: LostRanges] = [:]
    /// When a connection that has a packet now is let go.
    var quietAt = Timestamp.distantFuture
    /// How many connections are open.
    var openCount = 0
    /// Whether something was given up or forgotten because of a limit that all connections share.
    var reachedLimit = false
    /// Whether the source has ended: nothing is noted for later any more.
    var isEnding = false
    /// Gaps and unsettled starts to look at again: by `gapGrace`, `pickupGrace` and `resetGrace`.
    var gaps = DeadlineQueue()
    /// Starts to settle.
    var pickups = DeadlineQueue()
    /// Resets to settle.
    var resets = DeadlineQueue()
    /// Closed connections to forget.
    var closed = DeadlineQueue()
    /// Connections that may have been silent for too long.
    var quiet = DeadlineQueue()
    /// Connections that were let go, with when; some of them have spoken again.
    var idle = DeadlineQueue()
    /// How many connections are let go now.
    var idleCount = 0
    /// How many deadlines are pending, of all kinds; stale ones count, too.
    var pendingDeadlines: Int { gaps.count + pickups.count + resets.count + closed.count + quiet.count + idle.count }
    /// The earliest of all those times, `idle` left out.
    var nextDeadline = Timestamp(nanoseconds: .max)
    /// Since when something waits for its grace to go by: what comes of it will be that old.
    var heldSince = Timestamp.distantFuture
    /// What waits for longer than its own grace, since it waited behind another gap before; until that grace is over.
    private var older = Heap<Older>()

    private struct Older: Comparable {
        var since: Timestamp
        var deadline: Timestamp

        static func < (left: Older, right: Older) -> Bool {
            (left.since, left.deadline) < (right.since, right.deadline)
        }
    }
    /// The place of the connection at hand, for its deadlines.
    var current = 0

    /// Whether held segments take so much that the largest are passed on.
    var isNearMemoryLimit: Bool { heldCost > options.totalReorderingLimit - options.totalReorderingLimit / 8 }

    init(options: ReassemblyOptions) {
        self.options = options
    }

    /// What waits in a direction, if anything does.
    @inline(__always)
    func held(_ side: SendingSide) -> HeldSide? {
        side.isWaiting ? heldSides[Int(side.place)] : nil
    }

    /// What waits in a direction, from now on.
    mutating func hold(_ side: inout SendingSide) -> HeldSide {
        if let held = held(side) { return held }
        let held = HeldSide(flow: current)
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

    /// Notes that a connection has to be looked at again.
    mutating func note(_ queue: WritableKeyPath<ReassemblyState, DeadlineQueue>, after interval: Interval, number: Int)
    {
        let time = now + interval
        self[keyPath: queue].append(DeadlineQueue.Entry(time: time, flow: current, number: number))
        nextDeadline = min(nextDeadline, time)
        updateHeldSince()
    }

    /// Notes a gap to look at again, and since when something waits behind it.
    mutating func noteGap(since: Timestamp, number: Int) {
        if since < now { older.insert(Older(since: since, deadline: now + options.gapGrace)) }
        note(\.gaps, after: options.gapGrace, number: number)
    }

    /// Finds out again since when something has been held.
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
