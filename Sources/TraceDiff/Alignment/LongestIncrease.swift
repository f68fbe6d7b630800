/// Finds an increasing subsequence of a list.
enum LongestIncrease {
    /// The indices of a longest strictly increasing subsequence (patience sorting; M. Fredman, 1975).
    static func places(in values: [Int]) -> [Int] {
        // For each length, the index of the smallest value that ends such a subsequence.
        var ends: [Int] = []
        var before = [Int](repeating: -1, count: values.count)
        for (place, value) in values.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if values[ends[middle]] < value { low = middle + 1 } else { high = middle }
            }
            if low > 0 { before[place] = ends[low - 1] }
            if low == ends.count { ends.append(place) } else { ends[low] = place }
        }
        var places: [Int] = []
        var place = ends.last ?? -1
        while place >= 0 {
            places.append(place)
            place = before[place]
        }
        return places.reversed()
    }
}
