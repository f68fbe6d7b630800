import Streams

/// What is lost.
extension TLSConnection {
    /// Reports what lies before a record that was decrypted again.
    mutating func report(_ recovery: Recovery, _ found: Found, _ direction: Direction, _ context: Context) {
        let side = sides[direction]
        switch recovery.purpose {
        case .missingSecret: return
        case .rejectedEarlyData:
            reportSkipped(recovery, direction, context)
            return
        case .lostEarlyData:
            // The last record is EndOfEarlyData, a message without a body (RFC 8446 section 4.5).
            reportEarlyLoss(
                recovery, until: side.position, overhead: found.candidate.protection.overhead, messages: 4, context)
            return
        case .gap: break
        }
        // Its number tells how many records are lost, unless keys changed in between.
        let isCounted = found.candidate.isCurrent
        let unknown = side.position - recovery.knownEnd
        let records =
            isCounted
            ? Int(found.sequence - side.sequence)
            : recovery.knownRecords + (unknown > 0 ? 1 : 0)
        if endsInHandshake(found, direction) {
            context.receiver.lost(plaintextBytes: 0, isExact: true, records: records, from: direction)
            return
        }
        // Where a handshake goes on, some of what was lost was its.
        let goesOn =
            found.opened.type == ContentType.handshake.rawValue
            || found.opened.type == ContentType.changeCipherSpec.rawValue
        let isExact = isCounted && !goesOn && hasExactLengths(direction)
        reportLoss(recovery, until: side.position, records, isExact: isExact, direction, context)
    }

    /// Whether all that lies before a record is the handshake's, which has no application data.
    private func endsInHandshake(_ found: Found, _ direction: Direction) -> Bool {
        guard sides[direction].epoch < .application, !mayBeEarly(direction) || sides[direction].epoch == .handshake
        else { return false }
        return found.candidate.epoch == .handshake || (found.candidate.epoch == .application && found.sequence == 0)
    }

    /// Reports what is lost at the end.
    mutating func reportUnrecovered(until end: Int, _ direction: Direction, _ context: Context) {
        guard let recovery = sides[direction].recovery, end > recovery.start, sides[direction].phase != .plaintext
        else { return }
        sides[direction].recovery = nil
        switch recovery.purpose {
        case .missingSecret: return
        case .rejectedEarlyData:
            reportSkipped(recovery, direction, context)
            return
        case .lostEarlyData:
            reportEarlyLoss(recovery, until: end, overhead: sides[direction].overhead, messages: 0, context)
            return
        case .gap: break
        }
        let unknown = end - recovery.knownEnd
        let longest = RecordHeader.byteCount + RecordHeader.longestFragment
        // In TLS 1.3 the last record may as well be close_notify.
        let isExact = unknown == 0 && !state.isTLS13 && hasExactLengths(direction)
        reportLoss(
            recovery, until: end, recovery.knownRecords + (unknown + longest - 1) / longest, isExact: isExact,
            direction, context)
    }

    private func reportLoss(
        _ recovery: Recovery, until end: Int, _ records: Int, isExact: Bool, _ direction: Direction, _ context: Context
    ) {
        let wire = end - recovery.start - recovery.otherBytes
        let overhead = RecordHeader.byteCount + sides[direction].overhead
        let plaintext = max(0, wire - max(0, records - recovery.otherRecords) * overhead)
        context.receiver.lost(plaintextBytes: plaintext, isExact: isExact, records: records, from: direction)
    }

    /// Reports early data that there was no secret for.
    ///
    /// - Parameters:
    ///   - overhead: how many bytes of a record's fragment are not plaintext.
    ///   - messages: how many bytes of the plaintext are the handshake's.
    private func reportEarlyLoss(
        _ recovery: Recovery, until end: Int, overhead: Int, messages: Int, _ context: Context
    ) {
        let wire = end - recovery.start - recovery.otherBytes
        let plaintext = wire - recovery.knownRecords * (RecordHeader.byteCount + overhead) - messages
        guard plaintext > 0 else { return }
        context.receiver.lost(
            plaintextBytes: plaintext, isExact: false, records: recovery.knownRecords, from: .fromClient)
    }

    private func reportSkipped(_ recovery: Recovery, _ direction: Direction, _ context: Context) {
        guard recovery.knownRecords > 0 else { return }
        context.receiver.event(
            .earlyDataSkipped(records: recovery.knownRecords, byteCount: recovery.knownEnd - recovery.start),
            from: direction)
    }

    /// Whether a record's length tells its content's, and that is application data.
    private func hasExactLengths(_ direction: Direction) -> Bool {
        let side = sides[direction]
        guard side.epoch == .application, side.protection?.hasExactOverhead == true, !side.hasPadding else {
            return false
        }
        // Finished is the first record under the keys of TLS 1.2; in TLS 1.3 servers begin with session tickets.
        if !state.isTLS13 { return side.sequence > 0 }
        return direction == .fromClient || side.hasApplicationData
    }
}
