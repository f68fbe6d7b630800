/// The items of two connections that belong together.
struct MatchedFrames {
    typealias Pair = ConversationAlignment.Pair

    /// The pairs, in the order of the old side. Within a direction the order is the same on both sides.
    private(set) var pairs: [Pair]
    /// Equal items at different places among those of their direction.
    private(set) var moved: [Pair]
    /// Pairs of frames whose order does not matter.
    private(set) var unordered: [Pair] = []

    /// Matches the items whose order matters.
    init(_ old: [ContentTable.Entry], _ new: [ContentTable.Entry], _ table: ContentTable) {
        guard table.hasUnordered else {
            let alignment = ConversationAlignment(old, new, table)
            (pairs, moved) = (alignment.pairs, alignment.moved)
            return
        }
        let left = old.indices.filter { !table.isUnordered(old[$0]) }
        let right = new.indices.filter { !table.isUnordered(new[$0]) }
        let alignment = ConversationAlignment(left.map { old[$0] }, right.map { new[$0] }, table)
        func placed(_ pairs: [Pair]) -> [Pair] { pairs.map { Pair(old: left[$0.old], new: right[$0.new]) } }
        (pairs, moved) = (placed(alignment.pairs), placed(alignment.moved))
    }

    /// Matches the frames whose order does not matter.
    ///
    /// - Parameters:
    ///   - isFirst: whether to match those that have a bound value at its first place, or the others.
    ///   - values: the bound values that are known.
    /// - Returns: the new pairs.
    mutating func matchUnordered(
        _ old: [ContentTable.Entry], _ new: [ContentTable.Entry], _ table: ContentTable, isFirst: Bool,
        _ values: BoundValues
    ) -> [Pair] {
        var kinds: [Int: (old: [Int], new: [Int])] = [:]
        for (place, entry) in old.enumerated() where table.isUnordered(entry) {
            kinds[entry.kind, default: ([], [])].old.append(place)
        }
        for (place, entry) in new.enumerated() where table.isUnordered(entry) {
            kinds[entry.kind, default: ([], [])].new.append(place)
        }
        // In the order of kinds: that of a dictionary is another one in each run.
        let chosen = kinds.sorted { $0.key < $1.key }.map(\.value).filter { places in
            isFirst
                == (places.old.contains { old[$0].isFirst } || places.new.contains { new[$0].isFirst })
        }
        let found = chosen.flatMap { UnorderedMatching.pairs($0.old, of: old, $0.new, of: new, table, values) }
        unordered += found
        return found
    }
}

extension ContentTable.Entry {
    /// Whether it has a value at the first place of a binding.
    fileprivate var isFirst: Bool { bound.contains(where: \.isFirst) }
}
