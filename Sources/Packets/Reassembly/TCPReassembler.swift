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
    /// The connections whose receivers are not dormant.
    package var awake: AwakePlaces
    private var lastKey: FlowKey?
    private var lastIndex = 0

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
        awake = AwakePlaces(limit: options.awakeLimit)
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
        let index: Int
        if lastKey == key {
            index = lastIndex
        } else {
            guard let found = table.find(key) else {
                open(key, sourceIsLower, segment, payload, PacketStamp(time: time, number: packet))
                return
            }
            (lastKey, lastIndex) = (key, found)
            index = found
        }
        let direction = table.flows[index].direction(sourceIsLower: sourceIsLower)
        if segment.flags.contains(.syn) || table.flows[index].state != .open {
            visit(index)
            guard !table.flows[index].isReplaced(by: segment, from: direction, shared) else {
                replace(index, key, sourceIsLower, segment, payload, PacketStamp(time: time, number: packet))
                return
            }
            guard table.flows[index].state == .open else {
                if table.flows[index].bringsMore(segment, from: direction) { unreadSegments += 1 }
                return
            }
        }
        shared.current = index
        if annotation != nil { annotate(index, from: direction, at: time, packet: packet) }
        table.flows[index].take(segment, payload, from: direction, PacketStamp(time: time, number: packet), &shared)
    }

    /// Passes on what the recording says about the packet.
    @inline(never)
    private mutating func annotate(_ index: Int, from direction: Direction, at time: Timestamp, packet: Int) {
        guard let text = annotation else { return }
        annotation = nil
        table.flows[index].receiver?.noticed(.annotated(text), from: direction, at: time, packet: packet)
    }

    /// The source has ended: waiting bytes are passed on, open connections are closed, in order of opening.
    package mutating func finish() {
        shared.isEnding = true
        var order = table.flows.indices.filter { table.flows[$0].isOpen }
        // Reused places are out of order.
        if connectionCount + joinedCount > table.flows.count {
            order.sort { table.flows[$0].connectionLeg < table.flows[$1].connectionLeg }
        }
        for index in order {
            visit(index)
            table.flows[index].end(&shared)
        }
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
        let index = table.insert(flow)
        (lastKey, lastIndex, shared.current) = (key, index, index)
        shared.note(\.quiet, after: shared.quietInterval, number: number)
        table.flows[index].quietAt = shared.quietAt
        watch(index)
        table.flows[index].take(
            segment, payload, from: role.sourceIsClient ? .fromClient : .fromServer, packet, &shared)
    }

    /// The number of a connection that opens: that of its other leg, if there is one that is alone.
    private mutating func number(forOpening key: FlowKey) -> (number: Int, isJoined: Bool) {
        if let other = key.otherLeg, let place = table.find(other), !table.flows[place].isJoined {
            table.flows[place].isJoined = true
            joinedCount += 1
            return (table.flows[place].number, true)
        }
        connectionCount += 1
        return (connectionCount, false)
    }

    /// Opens a connection that replaces another between the same ends.
    private mutating func replace(
        _ index: Int, _ key: FlowKey, _ sourceIsLower: Bool, _ segment: TCPSegment, _ payload: RawSpan,
        _ packet: PacketStamp
    ) {
        let direction = table.flows[index].direction(sourceIsLower: sourceIsLower)
        // The same SYN again: what was acknowledged before it were numbers of an older connection.
        let side = table.flows[index].sides[direction]
        if segment.flags.contains(.syn), side.startSequence == segment.sequence &+ 1 {
            table.flows[index].forgetDoubted()
        }
        // The SYN that it answers was the new connection's.
        let answered: SendingSide? =
            table.flows[index].answersRepeatedSYN(segment, from: direction, shared)
            ? table.flows[index].sides.fromClient : nil
        table.flows[index].end(&shared)
        table.remove(index)
        lastKey = nil
        open(key, sourceIsLower, segment, payload, packet)
        if let answered, lastKey == key { table.flows[lastIndex].sides.fromClient.takeSYN(of: answered) }
    }

    private mutating func meetDeadlines() {
        if shared.isNearMemoryLimit { evictLargest() }
        while let entry = shared.gaps.popFirst(until: shared.now) ?? shared.pickups.popFirst(until: shared.now) {
            guard entry.isOf(table.flows[entry.flow].number) else { continue }
            visit(entry.flow)
            table.flows[entry.flow].review(.fromClient, &shared)
            table.flows[entry.flow].review(.fromServer, &shared)
        }
        while let entry = shared.resets.popFirst(until: shared.now) {
            guard entry.isOf(table.flows[entry.flow].number) else { continue }
            visit(entry.flow)
            table.flows[entry.flow].meetReset(&shared)
        }
        forgetClosed()
        markIdle()
        shared.nextDeadline = min(
            min(shared.gaps.first, shared.pickups.first, shared.resets.first), shared.closed.first, shared.quiet.first)
        shared.updateHeldSince()
    }

    /// Passes on the segments of the largest holders, until a quarter of the limit is free.
    private mutating func evictLargest() {
        shared.reachedLimit = true
        var holders: [(cost: Int, number: Int, flow: Int, direction: Direction)] = []
        // Few connections hold anything.
        for (place, held) in shared.heldSides.enumerated() {
            guard let held, !held.segments.isEmpty else { continue }
            let direction: Direction =
                Int(table.flows[held.flow].sides.fromClient.place) == place ? .fromClient : .fromServer
            holders.append((held.segments.cost, table.flows[held.flow].number, held.flow, direction))
        }
        holders.sort { ($1.cost, $0.number, $0.direction.rawValue) < ($0.cost, $1.number, $1.direction.rawValue) }
        let target = shared.options.totalReorderingLimit / 4 * 3
        for holder in holders where shared.heldCost > target {
            visit(holder.flow)
            table.flows[holder.flow].evictHeld(holder.direction, &shared)
        }
    }

    /// The place of a connection may be reused.
    mutating func forgetLast(_ index: Int) {
        if lastIndex == index { lastKey = nil }
    }

    /// Forgets closed connections that have been remembered for long enough, and the oldest if there are too many.
    mutating func forgetClosed() {
        if shared.closed.count > shared.options.closedLimit { shared.reachedLimit = true }
        while let entry = shared.closed.popFirst(
            until: shared.closed.count > shared.options.closedLimit ? Timestamp(nanoseconds: .max) : shared.now)
        {
            guard entry.isOf(table.flows[entry.flow].number), table.flows[entry.flow].state == .closed else {
                continue
            }
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
