import Framing

/// Matches the frames of two connections whose order does not matter (`unordered` in the rules), wherever they are.
///
/// First those that are the same, with the bound values that belong together; then those that are the same but for bound values; the
/// rest so that they differ least. If more than `most` of a kind are left, each is matched with the best of the next few: an
/// approximation.
struct UnorderedMatching {
    typealias Pair = ConversationAlignment.Pair
    /// How many of a kind are assigned exactly.
    private static let most = 256
    /// How many are considered for each one beyond that.
    private static let near = 32

    private struct Content: Hashable {
        var content: Int
        var bound: [JSONValue?]
    }

    private let old: [ContentTable.Entry]
    private let new: [ContentTable.Entry]
    private let table: ContentTable
    private var pairs: [Pair] = []

    /// The pairs among the frames of a kind, in the order of the old side.
    ///
    /// - Parameters:
    ///   - left: where the frames are on the old side.
    ///   - right: where they are on the new side.
    static func pairs(
        _ left: [Int], of old: [ContentTable.Entry], _ right: [Int], of new: [ContentTable.Entry],
        _ table: ContentTable, _ values: BoundValues
    ) -> [Pair] {
        var matching = UnorderedMatching(old, new, table)
        var rest = matching.take(left, right) { entry in
            Content(content: entry.content, bound: entry.sortedBound.map { values.partner(of: $0) })
        } newKey: { entry in
            Content(content: entry.content, bound: entry.sortedBound.map { $0.value })
        }
        rest = matching.take(rest.old, rest.new) {
            $0.content
        } newKey: {
            $0.content
        }
        if max(rest.old.count, rest.new.count) <= most {
            matching.assign(rest.old, rest.new)
        } else {
            matching.pick(rest.old, rest.new)
        }
        return matching.pairs.sorted { $0.old < $1.old }
    }

    private init(_ old: [ContentTable.Entry], _ new: [ContentTable.Entry], _ table: ContentTable) {
        (self.old, self.new, self.table) = (old, new, table)
    }

    /// Pairs frames with the same key, first with first; returns the others.
    private mutating func take<Key: Hashable>(
        _ left: [Int], _ right: [Int], oldKey: (ContentTable.Entry) -> Key, newKey: (ContentTable.Entry) -> Key
    ) -> (old: [Int], new: [Int]) {
        var free: [Key: [Int]] = [:]
        for place in right.reversed() { free[newKey(new[place]), default: []].append(place) }
        var rest: [Int] = []
        var taken: Set<Int> = []
        for place in left {
            if let other = free[oldKey(old[place])]?.popLast() {
                pairs.append(Pair(old: place, new: other))
                taken.insert(other)
            } else {
                rest.append(place)
            }
        }
        return (rest, right.filter { !taken.contains($0) })
    }

    private func cost(_ place: Int, _ other: Int) -> Int {
        table.cost(old[place].content, new[other].content, sameKind: true) ?? 2 * CheapestAlignment.single
    }

    private mutating func assign(_ left: [Int], _ right: [Int]) {
        // There must be at least as many columns as rows.
        let isTurned = left.count > right.count
        let (rows, columns) = isTurned ? (right, left) : (left, right)
        let costs = rows.enumerated().map { row, place in
            columns.enumerated().map { column, other in
                // All else being equal, in order.
                (isTurned ? cost(other, place) : cost(place, other)) * 1_024 + min(1_023, abs(row - column))
            }
        }
        for (row, column) in Assignment.cheapest(costs).enumerated() {
            let (place, other) = (rows[row], columns[column])
            pairs.append(isTurned ? Pair(old: other, new: place) : Pair(old: place, new: other))
        }
    }

    private mutating func pick(_ left: [Int], _ right: [Int]) {
        var coming = right[...]
        var window: [Int] = []
        for place in left {
            while window.count < Self.near, let next = coming.popFirst() { window.append(next) }
            let costs = window.map { cost(place, $0) }
            guard let best = costs.indices.min(by: { costs[$0] < costs[$1] }) else { return }
            pairs.append(Pair(old: place, new: window.remove(at: best)))
        }
    }
}

extension ContentTable.Entry {
    /// The bound values, in the same order for all frames of the same content.
    fileprivate var sortedBound: [ContentTable.Bound] { bound.sorted { $0.path < $1.path } }
}
