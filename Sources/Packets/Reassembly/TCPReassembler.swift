import Streams

/// Reassembles TCP segments into the byte streams of their connections.
///
/// Semantics: RFC 9293; what a capture adds to that (loss, reordering, mid-stream pickup, late segments) is described in
/// `ReassemblyOptions` and in `docs/captures.md`.
package struct TCPReassembler: ~Copyable {
    var table = FlowTable()
    var shared: ReassemblyState
    private let receiver: any StreamReceiver
    /// What the recording says about the next packet.
    var annotation: String?
    /// Which leg of its connection the next packet belongs to.
    var leg: Leg?
    /// The connections that are not packed.
    package var awake: AwakeConnections
    /// The connection of the last segment; nil if it may be another at its place by now.
    private var lastKey: FlowKey?
    private var (lastID, lastPlace) = (0, 0)
    /// Where connections are that had a segment lately.
    var recent = RecentFlows()

    /// How many connections were opened; two legs are one.
    package private(set) var connectionCount = 0
    /// How many segments brought bytes after their connection was closed: they are in no stream.
    package private(set) var unreadSegments = 0
    /// How many legs were opened that share the number of another.
    private var joinedCount = 0

    /// Whether a limit shared by all connections was reached.
    var hasReachedLimit: Bool { shared.reachedLimit }

    /// How many deadlines are pending, of all kinds; stale ones count, too.
    package var pendingDeadlines: Int { shared.pendingDeadlines }

    /// Approximately how much memory held segments take.
    package var heldMemory: Int { shared.heldCost }

    /// A reassembler without connections.
    ///
    /// - Parameters:
    ///   - options: limits and choices.
    ///   - receiver: receives connections.
    package init(options: ReassemblyOptions = ReassemblyOptions(), receiver: any StreamReceiver) {
        shared = ReassemblyState(options: options)
        awake = AwakeConnections(limit: options.awakeLimit)
        self.receiver = receiver
    }

    /// Advances time: never backwards, and after meeting the deadlines before it.
    ///
    /// The receiver is notified only up to the oldest event held back, after a gap or for a RST's grace period.
    @inline(__always)
    package mutating func advance(to time: Timestamp) {
        guard time > shared.now else { return }
        shared.now = time
        shared.quietAt = time + shared.quietInterval
        if time >= shared.nextDeadline {
            // What is passed on now is older than this deadline.
            receiver.advance(to: min(time, shared.heldSince))
            meetDeadlines()
        }
        receiver.advance(to: min(time, shared.heldSince))
    }

    /// Until when time may advance in one step instead of many, unless something is received meanwhile.
    var quietUntil: Timestamp { min(shared.nextDeadline, receiver.quietUntil) }

    /// Passes on secrets; bytes that are held back come after them.
    package func learned(keyLog: RawSpan) { receiver.learned(keyLog: keyLog) }

    /// Takes a segment.
    ///
    /// - Parameters:
    ///   - segment: its header.
    ///   - payload: the captured part of its payload; the rest up to `segment.payloadLength` is missing in the stream.
    ///   - time: when it was captured.
    ///   - packet: the number of its packet, from 1.
    @inline(__always)
    package mutating func receive(_ segment: TCPSegment, payload: RawSpan, at time: Timestamp, packet: Int) {
        let (key, sourceIsLower) = FlowKey.of(segment.source, segment.destination, leg)
        if lastKey != key {
            guard let (id, place) = table.find(key) else {
                open(key, sourceIsLower, segment, payload, PacketStamp(time: time, number: packet))
                return
            }
            (lastKey, lastID, lastPlace) = (key, id, place >= 0 ? place : visit(id))
        }
        let place = lastPlace
        shared.current = lastID
        let direction = table.flows[place].direction(sourceIsLower: sourceIsLower)
        if segment.flags.contains(.syn) || table.flows[place].state != .open {
            guard !table.flows[place].isReplaced(by: segment, from: direction, shared) else {
                replace(key, sourceIsLower, segment, payload, PacketStamp(time: time, number: packet))
                return
            }
            guard table.flows[place].state == .open else {
                if table.flows[place].bringsMore(segment, from: direction) { unreadSegments += 1 }
                return
            }
        }
        if annotation != nil { annotate(place, from: direction, at: time, packet: packet) }
        if leg == nil, segment.source.address.isIPv4 {
            recent.note(
                RecentFlows.Ends(segment.source, segment.destination), direction, id: lastID, place: place,
                number: table.flows[place].number)
        }
        table.flows[place].take(segment, payload, from: direction, PacketStamp(time: time, number: packet), &shared)
        if shared.hasStaleDeadlines { dropStaleDeadlines() }
    }

    /// Passes on what the recording says about the packet.
    @inline(never)
    private mutating func annotate(_ place: Int, from direction: Direction, at time: Timestamp, packet: Int) {
        guard let text = annotation else { return }
        annotation = nil
        table.flows[place].receiver?.noticed(.annotated(text), from: direction, at: time, packet: packet)
    }

    /// The source has ended: waiting bytes are passed on, open connections are closed, in order of opening.
    package mutating func finish() {
        shared.isEnding = true
        lastKey = nil
        if connectionCount + joinedCount == table.idCount {
            for id in 0..<table.idCount { end(id) }
        } else {
            // Ids that were used again are out of order. Small, since there may be many.
            var order: [(number: UInt32, leg: Leg?, id: Int32)] = []
            for id in 0..<table.idCount {
                guard let flow = table.flow(id), flow.state == .open else { continue }
                order.append((UInt32(truncatingIfNeeded: flow.number), flow.key.leg, Int32(id)))
            }
            order.sort { ($0.number, $0.leg == .out ? 1 : 0) < ($1.number, $1.leg == .out ? 1 : 0) }
            for open in order { end(Int(open.id)) }
        }
    }

    /// Ends a connection, if it is open, since the source has ended.
    private mutating func end(_ id: Int) {
        guard table.isPacked(id) || table.place(of: id).map({ table.flows[$0].state == .open }) ?? false else { return }
        table.flows[visit(id)].end(&shared)
        // Unpacked, all of them would need more memory than before.
        table.vacate(id)
    }

    /// Opens a connection, if the segment may begin one: late acknowledgments and resets may not.
    private mutating func open(
        _ key: FlowKey, _ sourceIsLower: Bool, _ segment: TCPSegment, _ payload: RawSpan, _ packet: PacketStamp
    ) {
        let isSYN = segment.flags.contains(.syn)
        guard isSYN || segment.payloadLength > 0, !segment.flags.contains(.rst) else { return }
        makeRoom()
        let (number, isJoined) = number(forOpening: key)
        shared.openCount += 1
        let role = segment.clientRole(serverPorts: shared.options.serverPorts)
        let opening = Opening(
            number: number, leg: key.leg, time: packet.time,
            client: (role.sourceIsClient ? segment.source : segment.destination).unmapped,
            server: (role.sourceIsClient ? segment.destination : segment.source).unmapped,
            handshake: isSYN, clientGuessed: role.isGuess)
        var flow = Flow(
            key: key, number: number, receiver: receiver.open(opening),
            clientIsLower: role.sourceIsClient == sourceIsLower)
        flow.isJoined = isJoined
        let (id, place) = table.insert(flow)
        (lastKey, lastID, lastPlace, shared.current) = (key, id, place, id)
        shared.note(\.quiet, after: shared.quietInterval, number: number)
        table.flows[place].quietAt = shared.quietAt
        watch(id)
        table.flows[place].take(
            segment, payload, from: role.sourceIsClient ? .fromClient : .fromServer, packet, &shared)
    }

    /// The number of a connection that opens: that of its other leg, if there is one that is alone.
    private mutating func number(forOpening key: FlowKey) -> (number: Int, isJoined: Bool) {
        if let otherKey = key.otherLeg, let (other, _) = table.find(otherKey), table.flow(other)?.isJoined == false {
            let place = visit(other)
            table.flows[place].isJoined = true
            joinedCount += 1
            return (table.flows[place].number, true)
        }
        connectionCount += 1
        return (connectionCount, false)
    }

    /// Opens a connection that replaces the last one, between the same ends.
    private mutating func replace(
        _ key: FlowKey, _ sourceIsLower: Bool, _ segment: TCPSegment, _ payload: RawSpan, _ packet: PacketStamp
    ) {
        let (id, place) = (lastID, lastPlace)
        let direction = table.flows[place].direction(sourceIsLower: sourceIsLower)
        // The same SYN again: what was acknowledged before it were numbers of an older connection.
        let side = table.flows[place].sides[direction]
        if segment.flags.contains(.syn), side.startSequence == segment.sequence &+ 1 {
            table.flows[place].forgetDoubted()
        }
        // The SYN that it answers was the new connection's.
        let answered: SendingSide? =
            table.flows[place].answersRepeatedSYN(segment, from: direction, shared)
            ? table.flows[place].sides.fromClient : nil
        table.flows[place].end(&shared)
        table.remove(id)
        lastKey = nil
        open(key, sourceIsLower, segment, payload, packet)
        if let answered, lastKey == key { table.flows[lastPlace].sides.fromClient.takeSYN(of: answered) }
    }

    private mutating func meetDeadlines() {
        if shared.isNearMemoryLimit { evictLargest() }
        while let entry = shared.gaps.popFirst(until: shared.now) ?? shared.pickups.popFirst(until: shared.now) {
            guard let place = visit(entry) else { continue }
            table.flows[place].review(.fromClient, &shared)
            table.flows[place].review(.fromServer, &shared)
        }
        while let entry = shared.resets.popFirst(until: shared.now) {
            guard let place = visit(entry) else { continue }
            table.flows[place].meetReset(&shared)
        }
        forgetClosed()
        markIdle()
        shared.nextDeadline = min(
            min(shared.gaps.first, shared.pickups.first, shared.resets.first), shared.closed.first, shared.quiet.first)
        shared.updateHeldSince()
    }

    /// Visits the connection of a deadline for what waits; nil if it is over, or nothing waits any more.
    private mutating func visit(_ entry: DeadlineQueue.Entry) -> Int? {
        if table.isPacked(entry.flow) {
            guard let flow = table.flow(entry.flow), entry.hasNumber(flow.number), flow.isWaiting else { return nil }
            return visit(entry.flow)
        }
        guard let place = table.place(of: entry.flow), entry.hasNumber(table.flows[place].number) else { return nil }
        shared.current = entry.flow
        return place
    }

    /// Passes on the segments of the largest holders, until a quarter of the limit is free.
    private mutating func evictLargest() {
        shared.reachedLimit = true
        // Small, since there may be many, just when memory is short.
        var holders: [(cost: UInt32, number: UInt32, place: UInt32)] = []
        holders.reserveCapacity(shared.heldSides.count)
        for (place, held) in shared.heldSides.enumerated() {
            guard let held, !held.segments.isEmpty else { continue }
            holders.append((UInt32(clamping: held.cost), held.number, UInt32(place)))
        }
        func direction(_ place: UInt32) -> UInt8 { shared.heldSides[Int(place)]?.direction.rawValue ?? 0 }
        holders.sort {
            if $0.cost != $1.cost { return $0.cost > $1.cost }
            if $0.number != $1.number { return $0.number < $1.number }
            let (left, right) = (direction($0.place), direction($1.place))
            return left != right ? left < right : $0.place < $1.place
        }
        let target = shared.options.totalReorderingLimit / 4 * 3
        for holder in holders where shared.heldCost > target {
            guard let held = shared.heldSides[Int(holder.place)], held.number == holder.number else { continue }
            table.flows[visit(Int(held.flow))].evictHeld(held.direction, &shared)
        }
    }

    /// The place of a connection may be used again.
    mutating func forgetLast(_ id: Int) {
        if lastID == id { lastKey = nil }
    }

    /// Forgets closed connections that have been remembered for long enough, and the oldest if there are too many.
    mutating func forgetClosed() {
        if shared.closed.count > shared.options.closedLimit { shared.reachedLimit = true }
        while let entry = shared.closed.popFirst(
            until: shared.closed.count > shared.options.closedLimit ? Timestamp(nanoseconds: .max) : shared.now)
        {
            guard let place = table.place(of: entry.flow), entry.hasNumber(table.flows[place].number),
                table.flows[place].state == .closed
            else { continue }
            forgetLast(entry.flow)
            table.remove(entry.flow)
        }
    }
}

extension TCPSegment {
    /// Which end is the client, by flags or, failing that, by ports (`docs/captures.md`).
    func clientRole(serverPorts: Set<UInt16>) -> (sourceIsClient: Bool, isGuess: Bool) {
        if flags.contains(.syn) { return (!flags.contains(.ack), false) }
        for isServer in [serverPorts.contains, { $0 < 1024 }] as [(UInt16) -> Bool] {
            switch (isServer(source.port), isServer(destination.port)) {
            case (true, false): return (false, true)
            case (false, true): return (true, true)
            default: continue
            }
        }
        return (source.port >= destination.port, true)
    }
}
