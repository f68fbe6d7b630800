import Streams

/// The evidence that the head at a place needs for a search to begin there, as quick checks compare it.
package struct NeededEvidence: Sendable {
    /// What any head needs that is the first one: one with less is likelier in other data than in frames.
    private static let any = 0.0

    /// The index of the place where the search began: a frame that starts there may have less.
    let exempt: Int?
    /// What the head of a longer frame than `longest` needs.
    let ofLong: Double
    /// In bytes; nil: as long as what is left of the bytes, of which no more follow.
    let longest: Int?

    /// More evidence for long frames.
    ///
    /// - Parameters:
    ///   - exempt: the index of the place where the search began; nil: it is not among these.
    ///   - ofLong: in bits.
    ///   - longest: in bytes; nil: what is left of the bytes.
    init(exempt: Int? = nil, ofLong: Double, longest: Int? = nil) {
        (self.exempt, self.ofLong, self.longest) = (exempt, ofLong, longest)
    }

    /// The same for frames of any length.
    ///
    /// - Parameter exempt: the index of the place where the search began.
    init(exempt: Int) { self.init(exempt: exempt, ofLong: -.infinity, longest: .max) }

    /// What a head needs at a place.
    ///
    /// - Parameter total: how long its frame is, in bytes.
    @inline(__always)
    func bits(ofTotal total: Int, at start: Int, in bytes: RawSpan) -> Double {
        let least = start == exempt ? -.infinity : Self.any
        return total > longest ?? bytes.byteCount - start ? max(least, ofLong) : least
    }

    /// Whether a head of this size at a place is not whole, and will not be.
    @inline(__always)
    func isTruncated(_ head: Int, at start: Int, in bytes: RawSpan) -> Bool {
        bytes.byteCount - start < head && head > longest ?? bytes.byteCount - start
    }
}
