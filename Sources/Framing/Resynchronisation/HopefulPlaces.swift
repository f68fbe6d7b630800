import Streams

// The places that a search tries.
extension FramingRule {
    /// Goes from place to place. Inlined, so that what is called through the protocol is this loop, in code of the rule's own.
    @inline(__always)
    package func firstHopeful(
        _ bytes: RawSpan, from start: Int, _ firstBytes: ByteSet, _ secondBytes: ByteSet, needed: NeededEvidence?
    ) -> Int? {
        var at = start
        let only = firstBytes.only
        while at < bytes.byteCount {
            if let only {
                guard let next = bytes.firstIndex(of: only, from: at) else { return nil }
                at = next
            }
            let byte = bytes[byte: at]
            if only != nil || firstBytes.contains(byte) {
                if byte == 0, let end = bytes.endOfZeros(from: at) {
                    at = end - FrameChain.zeroRun + 1
                    continue
                }
                let isRuledOut = at + 1 < bytes.byteCount && !secondBytes.contains(bytes[byte: at + 1])
                if !isRuledOut, mayStart(bytes, at: at) {
                    guard let needed, fallsShort(bytes, at: at, of: needed) else { return at }
                }
            }
            at += 1
        }
        return nil
    }
}

extension RawSpan {
    /// The index after the zeros that start at an index, if there are enough of them to start no frame.
    fileprivate func endOfZeros(from start: Int) -> Int? {
        let least = start + FrameChain.zeroRun
        guard least <= byteCount, self[byte: least - 1] == 0 else { return nil }
        let count = zeros(from: start, most: byteCount - start)
        return count >= FrameChain.zeroRun ? start + count : nil
    }

    /// How many bytes there are before the first one of a set.
    func count(before set: ByteSet) -> Int {
        var count = 0
        while count < byteCount, !set.contains(self[byte: count]) { count += 1 }
        return count
    }

    /// How many zeros there are from an index on, at most `most`.
    func zeros(from start: Int, most: Int) -> Int {
        let end = start + min(most, byteCount - start)
        var at = start
        while at < end, self[byte: at] == 0 { at += 1 }
        return at - start
    }
}
