/// What is read of a file: extents in any order, joined where there would be too many.
package struct ExtentSet {
    private var extents: [Range<Int>] = []
    private let limit: Int
    /// With how many bytes in between extents are joined.
    private var gap = 0

    /// Nothing.
    ///
    /// - Parameter limit: how many extents may be kept, 2 or more; then those with little in between are joined.
    package init(limit: Int = 1 << 18) { self.limit = max(2, limit) }

    /// Adds extents.
    package mutating func insert(_ others: some Collection<Range<Int>>) {
        for other in others where !other.isEmpty { extents.append(other) }
        if extents.count > limit { reduce() }
    }

    /// All of them: in order, none touches the next one.
    package func joined() -> [Range<Int>] { Self.joined(extents, gap) }

    private mutating func reduce() {
        extents = Self.joined(extents, gap)
        while extents.count > limit / 2 {
            gap = max(4_096, gap * 2)
            extents = Self.joined(extents, gap)
        }
    }

    private static func joined(_ extents: [Range<Int>], _ gap: Int) -> [Range<Int>] {
        var joined: [Range<Int>] = []
        for extent in extents.sorted(by: { ($0.lowerBound, $0.upperBound) < ($1.lowerBound, $1.upperBound) }) {
            if let last = joined.last, extent.lowerBound - gap <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound..<max(last.upperBound, extent.upperBound)
            } else {
                joined.append(extent)
            }
        }
        return joined
    }
}
