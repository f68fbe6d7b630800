import Streams

/// Where a search found the end of a body last, or how far there is none: the bodies at most places have the same one.
struct KnownEnds: Sendable {
    private let ends: [[UInt8]]
    /// At these stream offsets, no end begins that ends before the one found.
    private var without: Range<Int>
    /// The end that comes first, from any of them on.
    private var found: Range<Int>?

    /// Nothing is known of these ends from a stream offset on.
    init(_ ends: [[UInt8]], from start: Int) { (self.ends, without) = (ends, start..<start) }

    /// Whether this is about these ends, from a stream offset on.
    func covers(_ ends: [[UInt8]], from start: Int) -> Bool {
        without.lowerBound <= start && start <= without.upperBound && self.ends == ends
    }

    /// The first end at or after an index of bytes; nil if it is not available.
    ///
    /// - Parameters:
    ///   - index: an index whose stream offset is covered.
    ///   - origin: the stream offset of the first byte.
    mutating func first(in bytes: RawSpan, from index: Int, origin: Int) -> Range<Int>? {
        if found == nil, let range = bytes.firstEnd(of: ends, from: max(index, without.upperBound - origin)) {
            found = origin + range.lowerBound..<origin + range.upperBound
        }
        guard let found else {
            // The longest one may have begun.
            let last = origin + max(index, bytes.byteCount - (ends.first?.count ?? 1) + 1)
            without = without.lowerBound..<max(without.upperBound, last)
            return nil
        }
        without = without.lowerBound..<max(without.upperBound, found.lowerBound)
        guard found.upperBound - origin <= bytes.byteCount else { return nil }
        return found.lowerBound - origin..<found.upperBound - origin
    }
}
