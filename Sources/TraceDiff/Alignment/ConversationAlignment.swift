import Streams

/// Aligns the items of two connections.
///
/// First both directions together, by equal contents: a request keeps its answer. The rest is aligned for each direction
/// separately, by similarity; so it does not matter which side was seen first if both sent at once.
struct ConversationAlignment {
    /// A pair of places.
    struct Pair: Hashable {
        var old: Int
        var new: Int
    }

    /// The pairs, in the order of the old side. Within a direction the order is the same on both sides.
    private(set) var pairs: [Pair] = []
    /// Equal items at different places among the frames of their direction.
    private(set) var moved: [Pair] = []

    private let table: ContentTable
    private let old: [ContentTable.Entry]
    private let new: [ContentTable.Entry]

    init(_ old: [ContentTable.Entry], _ new: [ContentTable.Entry], _ table: ContentTable) {
        self.old = old
        self.new = new
        self.table = table
        let exact = ExactMatches.of(old.map(\.content), new.map(\.content)).map { Pair(old: $0.old, new: $0.new) }
        var gaps: [Gap] = []
        for direction in Direction.allCases {
            let own = slid(exact.filter { old[$0.old].from == direction }, direction)
            gaps += self.gaps(between: own, direction)
            pairs += own
        }
        for index in gaps.indices { matchExactly(gaps[index]) }
        takeOutMoved(&gaps)
        let partners = Dictionary(uniqueKeysWithValues: exactInGaps.map { ($0.old, $0.new) })
        for gap in gaps { matchByLikeness(gap, partners) }
        if pairs.count + moved.count < min(old.count, new.count) { pairLeftMoved() }
        pairs.sort { $0.old < $1.old }
        moved.sort { $0.old < $1.old }
    }

    /// Pairs of a direction, slid along repeated elements.
    private func slid(_ pairs: [Pair], _ direction: Direction) -> [Pair] {
        let left = old.indices.filter { old[$0].from == direction }
        let right = new.indices.filter { new[$0].from == direction }
        let (leftRanks, rightRanks) = (Self.ranks(of: left, among: old.count), Self.ranks(of: right, among: new.count))
        let matches = pairs.compactMap { pair in
            leftRanks[pair.old].flatMap { rank in rightRanks[pair.new].map { (old: rank, new: $0) } }
        }
        return MatchSliding.slide(matches, left.map { old[$0].content }, right.map { new[$0].content })
            .map { Pair(old: left[$0.old], new: right[$0.new]) }
    }

    /// For each place its rank among those of its direction; nil: it is not among them.
    private static func ranks(of places: [Int], among count: Int) -> [Int?] {
        var ranks = [Int?](repeating: nil, count: count)
        for (rank, place) in places.enumerated() { ranks[place] = rank }
        return ranks
    }

    /// The gap between two pairs of a direction: places of both sides.
    private struct Gap {
        var old: [Int]
        var new: [Int]
    }

    private func gaps(between pairs: [Pair], _ direction: Direction) -> [Gap] {
        let left = old.indices.filter { old[$0].from == direction }
        let right = new.indices.filter { new[$0].from == direction }
        var gaps: [Gap] = []
        var (i, j) = (0, 0)
        for end in pairs + [Pair(old: .max, new: .max)] {
            var gap = Gap(old: [], new: [])
            while i < left.count, left[i] < end.old {
                gap.old.append(left[i])
                i += 1
            }
            while j < right.count, right[j] < end.new {
                gap.new.append(right[j])
                j += 1
            }
            (i, j) = (i + 1, j + 1)
            if !gap.old.isEmpty || !gap.new.isEmpty { gaps.append(gap) }
        }
        return gaps
    }

    /// Finds equal contents in a gap; the gap still contains them, and the similarity step splits it there.
    private mutating func matchExactly(_ gap: Gap) {
        let (left, right) = (gap.old, gap.new)
        let matches = ExactMatches.of(left.map { old[$0].content }, right.map { new[$0].content })
        pairs += matches.map { Pair(old: left[$0.old], new: right[$0.new]) }
        exactInGaps += matches.map { Pair(old: left[$0.old], new: right[$0.new]) }
    }

    /// Pairs that `matchExactly` found: gaps still contain them.
    private var exactInGaps: [Pair] = []

    /// Content that occurs once on each side, and was not matched in order, has moved.
    private mutating func takeOutMoved(_ gaps: inout [Gap]) {
        if gaps.isEmpty { return }
        let matched = Set(exactInGaps.map(\.old))
        var places: [Int: (old: Int?, new: Int?)] = [:]
        let counts = (Self.counts(old), Self.counts(new))
        let matchedNew = Set(exactInGaps.map(\.new))
        for gap in gaps {
            for place in gap.old where !matched.contains(place) {
                places[old[place].content, default: (nil, nil)].old = place
            }
            for place in gap.new where !matchedNew.contains(place) {
                places[new[place].content, default: (nil, nil)].new = place
            }
        }
        var taken: (old: Set<Int>, new: Set<Int>) = ([], [])
        for (content, place) in places where counts.0[content] == 1 && counts.1[content] == 1 {
            guard let left = place.old, let right = place.new else { continue }
            moved.append(Pair(old: left, new: right))
            taken.old.insert(left)
            taken.new.insert(right)
        }
        for index in gaps.indices {
            gaps[index].old.removeAll { taken.old.contains($0) }
            gaps[index].new.removeAll { taken.new.contains($0) }
        }
    }

    private static func counts(_ entries: [ContentTable.Entry]) -> [Int: Int] {
        entries.reduce(into: [:]) { $0[$1.content, default: 0] += 1 }
    }

    /// - Parameter partners: the pairs of `matchExactly`, by the old place: they split the gap.
    private mutating func matchByLikeness(_ gap: Gap, _ partners: [Int: Int]) {
        let alignment = CheapestAlignment { [self] in
            let (left, right) = (old[$0], new[$1])
            return table.cost(left.content, right.content, sameKind: left.kind == right.kind)
        }
        var part = Gap(old: [], new: [])
        var rest = gap.new[...]
        for place in gap.old {
            guard let partner = partners[place] else {
                part.old.append(place)
                continue
            }
            part.new = Array(rest.prefix { $0 != partner })
            rest = rest.dropFirst(part.new.count + 1)
            pairs += alignment.pairs(part.old, part.new).map { Pair(old: $0.old, new: $0.new) }
            part = Gap(old: [], new: [])
        }
        pairs += alignment.pairs(part.old, Array(rest)).map { Pair(old: $0.old, new: $0.new) }
    }

    /// Unpaired items with the same content on both sides have moved as well.
    private mutating func pairLeftMoved() {
        let taken = (Set((pairs + moved).map(\.old)), Set((pairs + moved).map(\.new)))
        var left: [Int: [Int]] = [:]
        for place in new.indices.reversed() where !taken.1.contains(place) {
            left[new[place].content, default: []].append(place)
        }
        for place in old.indices where !taken.0.contains(place) {
            if let partner = left[old[place].content]?.popLast() { moved.append(Pair(old: place, new: partner)) }
        }
    }
}
