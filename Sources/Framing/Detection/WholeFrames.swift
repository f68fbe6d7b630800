import Streams

/// How many frames bytes may hold at most, found by a quick check.
///
/// Most formats cannot be in the few bytes of a connection that was picked up mid-stream and nobody recognizes: this shows it without a
/// trial.
package struct WholeFrames: Hashable, Sendable {
    /// The most that lie whole in the bytes and follow one another.
    var inARow: Int
    /// The most of which the first starts with the first byte.
    var fromStart: Int

    /// Longer streams are not checked.
    fileprivate static let mostBytes = 1_024
}

extension PlainLengths {
    /// The frames that may lie in bytes; nil if there are too many bytes to check.
    func wholeFrames(in bytes: RawSpan) -> WholeFrames? {
        let end = bytes.byteCount
        guard end <= WholeFrames.mostBytes else { return nil }
        // How many follow one another from each index on.
        var rows = [Int](repeating: 0, count: end + 1)
        var most = 0
        var at = end - head
        while at >= 0 {
            if let total = total(in: bytes, at: at), total <= end - at {
                rows[at] = 1 + rows[at + total]
                most = max(most, rows[at])
            }
            at -= 1
        }
        return WholeFrames(inARow: most, fromStart: rows[0])
    }
}

extension Delimiter {
    /// Nothing but the first delimiter shows where a frame starts, so none is known to start with the first byte.
    package func wholeFrames(in bytes: RawSpan) -> WholeFrames? {
        guard case .after(_, isCertain: true) = landmark, bytes.byteCount <= WholeFrames.mostBytes else { return nil }
        var ends = 0
        for at in 0..<bytes.byteCount where lastBytes.contains(bytes[byte: at]) { ends += 1 }
        return WholeFrames(inARow: max(0, ends - 1), fromStart: 0)
    }
}

extension SharedRule {
    /// Whether a stream that was picked up mid-stream may have frames in these bytes, which are all of it: as many from the first
    /// byte on, or as many in a row anywhere. May be true of bytes without frames.
    package func mayHaveFrames(midStream bytes: RawSpan, fromStart: Int, inARow: Int) -> Bool {
        if hasOpening { return true }
        if let frames = rule.wholeFrames(in: bytes) { return frames.fromStart >= fromStart || frames.inARow >= inARow }
        return firstHopeful(bytes, from: 0, needed: NeededEvidence(exempt: 0, ofLong: .infinity)) != nil
    }

    /// Whether the head of a frame may be in bytes of a stream that was picked up mid-stream.
    package func mayHaveHead(midStream bytes: RawSpan) -> Bool {
        hasOpening || firstHopeful(bytes, from: 0) != nil
    }
}
