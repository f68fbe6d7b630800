import Streams

/// The end of a direction.
extension TLSConnection {
    /// No more bytes of a direction follow.
    mutating func end(_ direction: Direction, hasEnded: Bool, _ context: Context) {
        guard !sides[direction].isFinished else { return }
        if case .searching = sides[direction].mode { search(direction, isLast: true, context) }
        guard sides[direction].held.wait == nil else {
            sides[direction].held.add(.finish(hasEnded: hasEnded), context.arrival)
            return
        }
        if direction == .fromServer || isServerSecretAwaited { reportNegotiation(context) }
        reportUnrecovered(until: endOffset(direction), direction, context)
        if direction == .fromClient, state.agreed?.version == .tls13, sides[direction].phase == .opaque,
            sides[direction].opaqueLengths == [TLSConnection.alertLength]
        {
            context.receiver.event(.alertSuspected, from: direction)
        }
        if hasEnded, let truncation = truncation(direction) {
            context.receiver.event(.truncated(truncation), from: direction)
        }
        sides[direction].isFinished = true
    }

    /// The fragment of an encrypted alert in TLS 1.3: two bytes, the content type and a tag.
    private static let alertLength = 19

    private func endOffset(_ direction: Direction) -> Int {
        let side = sides[direction]
        switch side.mode {
        case .records: return side.position + side.reader.heldBytes
        case .skipping(let left): return side.position + (side.skipped?.recordLength ?? 0) - left
        case .searching: return side.search.end
        case .ignored: return side.position
        }
    }

    private func truncation(_ direction: Direction) -> Truncation? {
        let side = sides[direction]
        guard !state.isClientHelloLost else { return nil }
        switch side.mode {
        case .records where side.reader.heldBytes > 0:
            return .withinRecord(received: side.reader.heldBytes, length: side.reader.partialHeader?.recordLength)
        case .skipping(let left):
            let length = side.skipped?.recordLength ?? 0
            return .withinRecord(received: length - left, length: length)
        case .ignored: return nil
        case .records, .searching: break
        }
        // After a fatal alert nobody sends more (RFC 8446 section 6.2).
        guard side.counts.records > 0, !side.hasEnded, !sides[direction.opposite].hasFailed else { return nil }
        // Without keys, TLS 1.3 hides its close_notify.
        let hidesEnd = (state.agreed?.version ?? .tls13) == .tls13 && (side.phase == .opaque || side.phase == .lost)
        return hidesEnd ? nil : .withoutCloseNotify
    }
}
