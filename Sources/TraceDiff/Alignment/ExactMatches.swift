/// Finds the common elements of two sequences, in order.
///
/// If they differ little, the edit script is the shortest. Otherwise elements that occur once on each side are anchors, and the
/// parts between them are processed recursively. If neither succeeds within the limits, nothing is matched: the next step
/// compares by similarity.
struct ExactMatches {
    /// At most how many differences are searched for at once.
    private static let few = 128
    private static let many = 1_024

    private let old: [Int]
    private let new: [Int]
    private var matches: [(old: Int, new: Int)] = []
    private var waiting: [(old: Range<Int>, new: Range<Int>)] = []

    /// The matches, in order.
    static func of(_ old: [Int], _ new: [Int]) -> [(old: Int, new: Int)] {
        var search = ExactMatches(old, new)
        search.waiting = [(old.indices, new.indices)]
        while let (old, new) = search.waiting.popLast() { search.match(old, new) }
        return search.matches.sorted { $0.old < $1.old }
    }

    private init(_ old: [Int], _ new: [Int]) {
        self.old = old
        self.new = new
    }

    private mutating func match(_ oldRange: Range<Int>, _ newRange: Range<Int>) {
        var (left, right) = (oldRange, newRange)
        while let first = left.first, let other = right.first, old[first] == new[other] {
            matches.append((first, other))
            (left, right) = (first + 1..<left.upperBound, other + 1..<right.upperBound)
        }
        while let last = left.last, let other = right.last, old[last] == new[other] {
            matches.append((last, other))
            (left, right) = (left.lowerBound..<last, right.lowerBound..<other)
        }
        if left.isEmpty || right.isEmpty { return }
        if let found = ShortestEdit.matches(old[left], new[right], limit: Self.few) {
            matches += found
        } else if !matchAnchors(left, right),
            let found = ShortestEdit.matches(old[left], new[right], limit: Self.many)
        {
            matches += found
        }
    }

    /// Splits at elements that occur once on each side. Returns false if there are none.
    private mutating func matchAnchors(_ left: Range<Int>, _ right: Range<Int>) -> Bool {
        var places: [Int: (old: Int, new: Int)] = [:]
        for place in left { places[old[place]] = (places[old[place]] == nil ? place : -2, -1) }
        for place in right {
            guard let known = places[new[place]] else { continue }
            places[new[place]]?.new = known.new == -1 ? place : -2
        }
        let unique = places.values.filter { $0.old >= 0 && $0.new >= 0 }.sorted { $0.old < $1.old }
        guard !unique.isEmpty else { return false }
        var before = (old: left.lowerBound, new: right.lowerBound)
        for anchor in LongestIncrease.places(in: unique.map(\.new)).map({ unique[$0] }) {
            matches.append(anchor)
            waiting.append((before.old..<anchor.old, before.new..<anchor.new))
            before = (anchor.old + 1, anchor.new + 1)
        }
        waiting.append((before.old..<left.upperBound, before.new..<right.upperBound))
        return true
    }
}
