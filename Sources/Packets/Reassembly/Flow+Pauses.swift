import Streams

/// Reports of the segments during a pause (`SegmentNotice`).
extension Flow {
    /// The first segments of a connection, which are always reported: they show how fast the clocks of both sides run.
    static let reportedFirst: UInt32 = 32

    /// Whether a side that has sent bytes has sent no new ones for longer than `pause`.
    @inline(__always)
    func hasPause(at time: Timestamp, of pause: Interval) -> Bool {
        // Before a side's first byte the difference wraps to a negative number.
        func isQuiet(_ lastTime: Timestamp) -> Bool {
            time.nanoseconds &- lastTime.nanoseconds > pause.nanoseconds
        }
        return isQuiet(sides.fromClient.lastTime) || isQuiet(sides.fromServer.lastTime)
    }

    /// Reports a segment.
    ///
    /// - Parameter skippedPackets: how many of its sender's packets before it were not captured; nil if unknown.
    @inline(never)
    mutating func report(
        _ segment: TCPSegment, skippedPackets: UInt16?, from direction: Direction, _ packet: PacketStamp
    ) {
        if segment.clock != 0 { sides[direction].marks.insert(.hasPackets) }
        let side = sides[direction]
        guard state == .open, side.marks.isSuperset(of: [.hasPackets, .started]),
            segment.flags.isDisjoint(with: [.syn])
        else { return }
        if packet.time - side.lastTime > SegmentNotice.longPause, segment.payloadLength > 0 {
            reportedUntil = packet.time + SegmentNotice.afterLongPause
        }
        let notice = SegmentNotice(
            offset: side.position(of: segment.sequence), byteCount: segment.payloadLength, expected: side.offset,
            acknowledged: segment.flags.contains(.ack)
                ? sides[direction.opposite].position(of: segment.acknowledgment) : nil,
            acknowledgedBefore: side.acknowledgedOffset.flatMap { $0 > 0 ? $0 : nil },
            lastBytes: side.lastTime, skippedPackets: skippedPackets.map { Int($0) },
            clock: segment.clock == 0 ? nil : segment.clock)
        receiver?.noticed(.segment(notice), from: direction, at: packet.time, packet: packet.number)
    }
}
