/// Aligns two sequences so that pairs, removals and additions together cost least (S. Needleman and C. Wunsch, 1970).
struct CheapestAlignment {
    /// What a removal or an addition costs.
    static let single = 1_000
    /// How many pairs are compared at once; beyond that, in a moving window.
    private static let most = 65_536
    /// The moving window: this many of each side are aligned, and the first half of them is kept. This is an approximation:
    /// elements further apart than half a window are not paired.
    private static let window = 64

    /// What a pair of elements costs; nil if they must not be paired.
    let cost: (_ old: Int, _ new: Int) -> Int?

    /// The pairs of an alignment, in order. `old` and `new` are the arguments of `cost`.
    func pairs(_ old: [Int], _ new: [Int]) -> [(old: Int, new: Int)] {
        if old.isEmpty || new.isEmpty { return [] }
        if old.count * new.count <= Self.most {
            return align(old[...], new[...], toTheEnd: true).map { ($0.old, $0.new) }
        }
        var pairs: [(old: Int, new: Int)] = []
        var (left, right) = (old[...], new[...])
        while !left.isEmpty, !right.isEmpty {
            let isLast = left.count <= Self.window && right.count <= Self.window
            let steps = align(left.prefix(Self.window), right.prefix(Self.window), toTheEnd: isLast)
            let half = Self.window / 2
            let kept = isLast ? steps[...] : steps.prefix { $0.oldPlace < half && $0.newPlace < half }
            pairs += kept.map { ($0.old, $0.new) }
            if isLast { break }
            // Continues after the last pair kept; if there is none, half of the window is skipped.
            if let last = kept.last {
                left = left.dropFirst(last.oldPlace + 1)
                right = right.dropFirst(last.newPlace + 1)
            } else {
                left = left.dropFirst(min(half, steps.first?.oldPlace ?? half))
                right = right.dropFirst(min(half, steps.first?.newPlace ?? half))
            }
        }
        return pairs
    }

    private struct Step {
        var old: Int
        var new: Int
        var oldPlace: Int
        var newPlace: Int
    }

    private enum Move: UInt8 { case pair, remove, add }

    /// - Parameter toTheEnd: whether both sides end here; otherwise the rest of either costs nothing yet.
    private func align(_ old: ArraySlice<Int>, _ new: ArraySlice<Int>, toTheEnd: Bool) -> [Step] {
        let width = new.count + 1
        var moves = [Move](repeating: .add, count: (old.count + 1) * width)
        var above = (0...new.count).map { $0 * Self.single }
        var end = (row: old.count, column: new.count)
        var least = Int.max
        for (row, left) in old.enumerated() {
            var current = above
            current[0] = (row + 1) * Self.single
            moves[(row + 1) * width] = .remove
            for (column, right) in new.enumerated() {
                var (best, move) = (above[column + 1] + Self.single, Move.remove)
                if current[column] + Self.single < best { (best, move) = (current[column] + Self.single, .add) }
                if above[column] <= best, let cost = cost(left, right), above[column] + cost <= best {
                    (best, move) = (above[column] + cost, .pair)
                }
                current[column + 1] = best
                moves[(row + 1) * width + column + 1] = move
            }
            above = current
            if !toTheEnd, row + 1 < old.count, current[new.count] < least {
                (least, end) = (current[new.count], (row + 1, new.count))
            }
        }
        if !toTheEnd {
            for place in 0...new.count where above[place] < least { (least, end) = (above[place], (old.count, place)) }
        }
        var (row, column) = end
        var steps: [Step] = []
        while row > 0, column > 0 {
            switch moves[row * width + column] {
            case .pair:
                row -= 1
                column -= 1
                steps.append(
                    Step(
                        old: old[old.startIndex + row], new: new[new.startIndex + column], oldPlace: row,
                        newPlace: column))
            case .remove: row -= 1
            case .add: column -= 1
            }
        }
        return steps.reversed()
    }
}
