/// Moves runs of matches along repeated elements, so that removals and additions become adjacent.
///
/// Of `a a` → `b a`, the shortest edit may keep the first `a`: `b` added before it, an `a` removed after it. If the second `a` is
/// kept instead, `a` and `b` are in one gap, where one may be recognised as a change of the other.
enum MatchSliding {
    /// The matches, moved.
    ///
    /// - Parameters:
    ///   - matches: pairs of places in `old` and `new`, in order.
    ///   - old: contents of one side.
    ///   - new: contents of the other side.
    static func slide(_ matches: [(old: Int, new: Int)], _ old: [Int], _ new: [Int]) -> [(old: Int, new: Int)] {
        var matches = matches
        var start = 0
        while start < matches.count {
            var end = start + 1
            while end < matches.count, matches[end].old == matches[end - 1].old + 1,
                matches[end].new == matches[end - 1].new + 1
            {
                end += 1
            }
            let before = start > 0 ? matches[start - 1] : (-1, -1)
            let after = end < matches.count ? matches[end] : (old.count, new.count)
            let (first, last) = (matches[start], matches[end - 1])
            let removed = (first.old - before.0 - 1, after.0 - last.old - 1)
            let added = (first.new - before.1 - 1, after.1 - last.new - 1)
            if removed.0 == 0, added.0 > 0, removed.1 > 0, added.1 == 0 {
                let canMove = (start..<end).allSatisfy { old[matches[$0].old + 1] == new[matches[$0].new] }
                if canMove { for place in start..<end { matches[place].old += 1 } }
            } else if added.0 == 0, removed.0 > 0, added.1 > 0, removed.1 == 0 {
                let canMove = (start..<end).allSatisfy { old[matches[$0].old] == new[matches[$0].new + 1] }
                if canMove { for place in start..<end { matches[place].new += 1 } }
            }
            start = end
        }
        return matches
    }
}
