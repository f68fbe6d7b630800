import Streams

/// The fast path: the next bytes in order, with nothing waiting. Nothing is copied or allocated here.
extension SendingSide {
    /// Takes a segment of this direction, if it is the next one and ordinary in every respect.
    @inline(__always)
    mutating func takeNext(
        _ segment: TCPSegment, _ payload: RawSpan, from direction: Direction, other: inout SendingSide,
        _ packet: PacketStamp, _ receiver: (any ConnectionReceiver)?, notices: Bool
    ) -> Bool {
        guard next == segment.sequence, !isWaiting, !other.isWaiting,
            marks.intersection([.started, .finished]) == .started,
            segment.flags.isDisjoint(with: [.syn, .fin, .rst]), segment.payloadLength == payload.byteCount
        else { return false }
        if segment.flags.contains(.ack) {
            other.takeAcknowledgment(
                segment.acknowledgment, by: direction, packet, fin: .max, receiver, notices: notices)
        }
        takeWindow(segment.window, from: direction, packet, receiver)
        if payload.byteCount > 0 { deliver(payload, from: direction, at: packet.time, packet.number, receiver) }
        return true
    }

    /// Passes on the next bytes.
    @inline(__always)
    mutating func deliver(
        _ bytes: RawSpan, from direction: Direction, at time: Timestamp, _ packet: Int,
        _ receiver: (any ConnectionReceiver)?
    ) {
        lastTime = max(time, lastTime)
        next &+= UInt32(truncatingIfNeeded: bytes.byteCount)
        offset &+= bytes.byteCount
        receiver?.received(bytes, from: direction, at: lastTime, packet: packet)
    }

    /// Takes what the other side, `direction`, acknowledged of this one.
    ///
    /// - Parameters:
    ///   - fin: the offset of a FIN that waits.
    ///   - receiver: who is notified, if anyone.
    ///   - notices: whether that includes what was acknowledged.
    /// - Returns: whether the acknowledgment advanced.
    @inline(__always)
    @discardableResult
    mutating func takeAcknowledgment(
        _ number: UInt32, by direction: Direction, _ packet: PacketStamp, fin: Int,
        _ receiver: (any ConnectionReceiver)?, notices: Bool
    ) -> Bool {
        let isNew = !marks.contains(.ackSeen) || Int32(bitPattern: number &- acknowledged) > 0
        guard isNew else {
            // Exactly what was captured is acknowledged after far more than that: the higher one was not the receiver's.
            if number == next, Int32(bitPattern: acknowledged &- number) > 1 << 20 { acknowledged = number }
            return false
        }
        var before = 0
        if marks.contains(.ackSeen) {
            before = position(of: acknowledged)
            if let receiver, marks.isDisjoint(with: [.started, .hasPackets]), !isWaiting,
                Int32(bitPattern: number &- acknowledged) > 1
            {
                receiver.noticed(.unseen, from: direction.opposite, at: packet.time, packet: packet.number)
            }
        } else if marks.contains(.synSeen), position(of: number) < 0 {
            return false  // nothing precedes a SYN: it is of an older connection
        }
        acknowledged = number
        marks.insert(.ackSeen)
        if notices, let receiver, marks.contains(.started) {
            // A FIN occupies one sequence number; it is not a byte of the stream.
            let end = marks.contains(.finished) ? offset : fin
            let acknowledgedOffset = min(position(of: number), end)
            if acknowledgedOffset > max(before, 0) {
                receiver.noticed(
                    .acknowledged(offset: acknowledgedOffset), from: direction, at: packet.time, packet: packet.number)
            }
        }
        return true
    }

    /// A smaller window is as good as closed after a larger one: the sender waits for more (RFC 9293 section 3.8.6.2.1).
    static let tinyWindow = 128

    /// Takes the window that the sender offers, and reports when it closes and opens.
    @inline(__always)
    mutating func takeWindow(
        _ offered: UInt16, from direction: Direction, _ packet: PacketStamp, _ receiver: (any ConnectionReceiver)?
    ) {
        window = offered
        let isClosed =
            Int(offered) << Int(windowScale) < Self.tinyWindow && (offered == 0 || marks.contains(.offeredRoom))
        guard isClosed != marks.contains(.windowClosed) else { return }
        marks.formSymmetricDifference(.windowClosed)
        receiver?.noticed(.windowClosed(isClosed), from: direction, at: packet.time, packet: packet.number)
    }
}
