/// The shortest edit script from one sequence to another (E. Myers, An O(ND) Difference Algorithm, 1986).
enum ShortestEdit {
    /// The pairs of equal elements that stay, in order; nil if more than `limit` removals and additions are needed.
    ///
    /// Takes O(length × differences) time and O(differences²) memory.
    static func matches(_ old: ArraySlice<Int>, _ new: ArraySlice<Int>, limit: Int) -> [(old: Int, new: Int)]? {
        let (rows, columns) = (old.count, new.count)
        let most = min(limit, rows + columns)
        // Furthest row reached on each diagonal k = row - column, at k + most + 1.
        var furthest = [Int32](repeating: 0, count: 2 * most + 3)
        var history: [[Int32]] = []
        for edits in 0...most {
            history.append(Array(furthest[(most + 1 - edits)...(most + 1 + edits)]))
            for diagonal in stride(from: -edits, through: edits, by: 2) {
                let at = diagonal + most + 1
                var row =
                    diagonal == -edits || (diagonal != edits && furthest[at - 1] < furthest[at + 1])
                    ? Int(furthest[at + 1]) : Int(furthest[at - 1]) + 1
                var column = row - diagonal
                while row < rows, column < columns, old[old.startIndex + row] == new[new.startIndex + column] {
                    row += 1
                    column += 1
                }
                furthest[at] = Int32(row)
                if row >= rows, column >= columns {
                    return trace(back: history, to: (rows, columns), from: (old.startIndex, new.startIndex))
                }
            }
        }
        return nil
    }

    /// Walks back from the end: `history[d]` holds the diagonals -d…d before step d.
    private static func trace(
        back history: [[Int32]], to end: (row: Int, column: Int), from start: (old: Int, new: Int)
    ) -> [(old: Int, new: Int)] {
        var matches: [(old: Int, new: Int)] = []
        var (row, column) = end
        for edits in stride(from: history.count - 1, through: 0, by: -1) {
            let reached = history[edits]
            let diagonal = row - column
            func furthest(_ diagonal: Int) -> Int { Int(reached[diagonal + edits]) }
            var previous = (row: 0, column: 0)
            if edits > 0 {
                // The neighbours of step d's ends lie inside -d…d, those outside were never reached.
                let isDown =
                    diagonal == -edits || (diagonal != edits && furthest(diagonal - 1) < furthest(diagonal + 1))
                let from = isDown ? diagonal + 1 : diagonal - 1
                previous = (furthest(from), furthest(from) - from)
            }
            while row > previous.row, column > previous.column {
                row -= 1
                column -= 1
                matches.append((start.old + row, start.new + column))
            }
            (row, column) = previous
        }
        return matches.reversed()
    }
}
