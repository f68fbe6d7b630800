import Streams

/// Gaps: what waits behind them, and when they are declared missing.
extension Flow {
    /// Passes on waiting segments that are next in order.
    mutating func drain(_ direction: Direction, _ shared: inout ReassemblyState) {
        guard let held = shared.held(sides[direction]) else { return }
        if let start = held.segments.firstStart, start > sides[direction].offset { return }
        let before = held.cost
        let bytes = held.segments.bytes
        while let start = held.segments.firstStart, start <= sides[direction].offset,
            let segment = held.segments.popFirst()
        {
            // Held segments overlap neither each other nor what was passed on: `hold` ensures that.
            deliver(
                bytes.span.bytes.extracting(segment.place..<segment.place + segment.count), from: direction,
                at: segment.time, segment.packet, &shared)
        }
        shared.heldCost += held.cost - before
        if held.segments.isEmpty, held.fin == nil {
            shared.release(&sides[direction])
        } else {
            // What was passed on is no longer counted: nothing may come that would drop it.
            held.segments.compact()
        }
    }

    /// Declares the first gap missing, or settles the start, and passes on what waited behind it.
    mutating func passGap(_ direction: Direction, _ shared: inout ReassemblyState) {
        guard let held = shared.held(sides[direction]), let start = held.segments.firstStart else { return }
        if !sides[direction].marks.contains(.started) {
            settle(direction, at: sides[direction].next &+ UInt32(truncatingIfNeeded: held.earliest), &shared)
        } else if start > sides[direction].offset {
            miss(direction, upTo: start, at: held.segments.firstTime, &shared)
        }
        drain(direction, &shared)
    }

    /// Declares bytes missing: the next ones, up to an offset.
    ///
    /// - Parameter time: that of the bytes after them.
    mutating func miss(
        _ direction: Direction, upTo end: Int, at time: Timestamp, _ shared: inout ReassemblyState
    ) {
        let byteCount = end - sides[direction].offset
        guard byteCount > 0 else { return }
        let time = max(time, sides[direction].lastTime)
        sides[direction].lastTime = time
        shared.lose(sides[direction].offset..<end, from: direction)
        sides[direction].next &+= UInt32(truncatingIfNeeded: byteCount)
        sides[direction].offset = end
        reportWaiting(direction.opposite, at: time, shared)
        receiver?.missing(byteCount, from: direction, at: time)
    }

    /// How far the sender's sequence number may run ahead of the captured bytes before the difference is declared missing at
    /// once: numbers are compared within 2^31, and must not come near that.
    private static let farAhead = 1 << 29

    /// Takes the number of a segment of which no bytes were captured: if it is far ahead, the bytes before it are missing, as far
    /// as they were acknowledged. While bytes are in flight, acknowledgments lag behind.
    mutating func takeNumber(
        _ sequence: UInt32, from direction: Direction, at time: Timestamp, _ shared: inout ReassemblyState
    ) {
        let side = sides[direction]
        guard side.marks.intersection([.started, .finished, .ackSeen]) == [.started, .ackSeen] else { return }
        // A FIN that waits is not a byte.
        let position = min(
            side.position(of: sequence), side.position(of: side.acknowledged), shared.held(side)?.fin?.offset ?? .max)
        guard position - side.offset >= Self.farAhead else { return }
        while let start = shared.held(sides[direction])?.segments.firstStart, start <= position {
            passGap(direction, &shared)
        }
        miss(direction, upTo: position, at: time, &shared)
        finishIfComplete(direction, &shared)
    }

    /// Sets the sequence number with which the stream begins. What its sender acknowledged before counts, unless a SYN sets it.
    mutating func settle(_ direction: Direction, at first: UInt32, _ shared: inout ReassemblyState) {
        let shift = -Int(Int32(bitPattern: first &- sides[direction].next))
        if let held = shared.held(sides[direction]) {
            held.segments.shift(by: shift)
            held.fin?.offset += shift
            held.grace = nil
            let before = held.cost
            for early in held.takeEarly() {
                receiver?.noticed(
                    early.notice(early.offset + shift), from: direction, at: early.packet.time,
                    packet: early.packet.number)
            }
            shared.heldCost += held.cost - before
        }
        sides[direction].next = first
        sides[direction].offset = 0
        sides[direction].marks.insert(.started)
        sides[direction.opposite].believe()
    }

    /// Checks whether waiting segments have waited long enough.
    mutating func review(_ direction: Direction, _ shared: inout ReassemblyState) {
        guard state == .open, let held = shared.held(sides[direction]) else { return }
        let isOver = held.grace.map { shared.now >= $0.deadline || Int32(bitPattern: packets &- $0.packets) >= 0 }
        if !sides[direction].marks.contains(.started) {
            let first = sides[direction].next &+ UInt32(truncatingIfNeeded: held.earliest)
            guard isOver == true else { return }
            let isBelieved = sides[direction.opposite].marks.contains(.ackDoubted)
            settle(direction, at: first, &shared)
            drain(direction, &shared)
            finishIfComplete(direction, &shared)
            // What waits in the other direction is acknowledged from now on.
            if isBelieved, sides[direction.opposite].isWaiting { review(direction.opposite, &shared) }
            return
        }
        dropStrays(direction, &shared)
        finishIfComplete(direction, &shared)
        guard state == .open, sides[direction].isWaiting else { return }
        var hasWaited = false
        if let grace = held.grace, isOver == true {
            held.grace = nil
            hasWaited = true
            let limit = sides[direction].position(of: grace.acknowledged)
            while let start = held.segments.firstStart, start <= limit { passGap(direction, &shared) }
            finishIfComplete(direction, givenUpTo: limit, &shared)
        }
        // Anything acknowledged since then has its own grace period.
        guard state == .open, let held = shared.held(sides[direction]), held.grace == nil,
            let heldStart = held.segments.firstStart ?? held.fin?.offset,
            sides[direction].isAcknowledged(
                sides[direction].next &+ UInt32(truncatingIfNeeded: heldStart - sides[direction].offset))
        else { return }
        held.grace = HeldSide.Grace(
            deadline: shared.now + shared.options.gapGrace,
            packets: packets &+ shared.options.gapGracePackets, acknowledged: sides[direction].acknowledged)
        shared.noteGap(since: hasWaited ? held.since ?? shared.now : shared.now, number: number)
    }

    /// Passes on all waiting segments, to free their memory.
    mutating func evictHeld(_ direction: Direction, _ shared: inout ReassemblyState) {
        guard state == .open, let held = shared.held(sides[direction]) else { return }
        reportEviction(of: held.segments.byteCount, from: direction, &shared)
        flush(direction, &shared)
    }

    /// Reports that segments were passed on because the memory limit was reached, unless nothing is missing as a result: those of
    /// a stream picked up mid-stream waited only for its start to be settled.
    func reportEviction(of byteCount: Int, from direction: Direction, _ shared: inout ReassemblyState) {
        if !sides[direction].marks.contains(.started), shared.held(sides[direction])?.segments.hasGaps != true {
            return
        }
        receiver?.noticed(
            .memoryLimit(byteCount: byteCount), from: direction, at: max(shared.now, sides[direction].lastTime),
            packet: 0)
    }

    /// Passes on all waiting segments, whatever lies between.
    mutating func flush(_ direction: Direction, _ shared: inout ReassemblyState) {
        while shared.held(sides[direction])?.segments.isEmpty == false { passGap(direction, &shared) }
        if !sides[direction].marks.contains(.started), let held = shared.held(sides[direction]) {
            settle(direction, at: sides[direction].next &+ UInt32(truncatingIfNeeded: held.earliest), &shared)
            drain(direction, &shared)
        }
        finishIfComplete(direction, givenUpTo: .max, &shared)
    }
}
