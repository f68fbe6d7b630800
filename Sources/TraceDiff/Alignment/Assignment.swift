/// The cheapest assignment of rows to columns (H. Kuhn, 1955, in the form with potentials and shortest paths, O(n³)).
enum Assignment {
    /// The column of each row. There must be at least as many columns as rows.
    static func cheapest(_ cost: [[Int]]) -> [Int] {
        let rows = cost.count
        guard let columns = cost.first?.count, columns >= rows else { return [] }
        // Row and column 0 represent "none".
        var rowPotential = [Int](repeating: 0, count: rows + 1)
        var columnPotential = [Int](repeating: 0, count: columns + 1)
        var rowOf = [Int](repeating: 0, count: columns + 1)
        var wayTo = [Int](repeating: 0, count: columns + 1)
        for row in 1...rows {
            rowOf[0] = row
            var column = 0
            var least = [Int](repeating: .max, count: columns + 1)
            var isUsed = [Bool](repeating: false, count: columns + 1)
            repeat {
                isUsed[column] = true
                let current = rowOf[column]
                var (delta, next) = (Int.max, 0)
                for other in 1...columns where !isUsed[other] {
                    let reduced = cost[current - 1][other - 1] - rowPotential[current] - columnPotential[other]
                    if reduced < least[other] { (least[other], wayTo[other]) = (reduced, column) }
                    if least[other] < delta { (delta, next) = (least[other], other) }
                }
                for other in 0...columns {
                    if isUsed[other] {
                        rowPotential[rowOf[other]] += delta
                        columnPotential[other] -= delta
                    } else {
                        least[other] -= delta
                    }
                }
                column = next
            } while rowOf[column] != 0
            repeat {
                let before = wayTo[column]
                rowOf[column] = rowOf[before]
                column = before
            } while column != 0
        }
        var columnOf = [Int](repeating: 0, count: rows)
        for column in 1...columns where rowOf[column] > 0 { columnOf[rowOf[column] - 1] = column - 1 }
        return columnOf
    }
}
