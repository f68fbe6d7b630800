/// The places of packets in a file, in order; those with little in between are joined.
package struct ExtentRuns: Hashable, Sendable {
    /// The extents: in order, none touches the next one.
    package private(set) var extents: [Range<Int>] = []

    /// No places.
    package init() {}

    /// Adds a place, nearly always after all others.
    ///
    /// - Parameter gap: with how many bytes in between, or less, extents are joined.
    package mutating func add(_ place: Range<Int>, joining gap: Int) {
        guard !place.isEmpty else { return }
        let last = extents.count - 1
        if last < 0 || place.lowerBound - gap > extents[last].upperBound {
            extents.append(place)
        } else if place.lowerBound >= extents[last].lowerBound {
            extents[last] = extents[last].lowerBound..<max(extents[last].upperBound, place.upperBound)
        } else {
            insert(place, joining: gap)
        }
    }

    /// Adds others.
    package mutating func add(_ others: ExtentRuns, joining gap: Int) {
        for extent in others.extents { add(extent, joining: gap) }
    }

    /// Joins those with the least in between until there are at most `most`, 1 or more.
    package mutating func coarsen(to most: Int) {
        guard extents.count > most else { return }
        let gaps = zip(extents, extents.dropFirst()).map { $1.lowerBound - $0.upperBound }.sorted()
        let gap = gaps[extents.count - most - 1]
        let before = extents
        extents = []
        for extent in before { add(extent, joining: gap) }
    }

    /// Forgets all places.
    package mutating func empty() { extents.removeAll(keepingCapacity: true) }

    private mutating func insert(_ place: Range<Int>, joining gap: Int) {
        let start = extents.firstIndex { $0.upperBound + gap >= place.lowerBound } ?? extents.count
        var end = start
        var joined = place
        while end < extents.count, extents[end].lowerBound - gap <= place.upperBound {
            joined =
                min(joined.lowerBound, extents[end].lowerBound)..<max(joined.upperBound, extents[end].upperBound)
            end += 1
        }
        extents.replaceSubrange(start..<end, with: CollectionOfOne(joined))
    }
}
