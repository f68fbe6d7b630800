import Framing
import Trace

extension ContentTable {
    private struct Sum {
        var weight = 0
        var same = 0
    }

    /// The cost of treating one content as a change of another, in thousandths of a removal or addition; nil if they have too
    /// little in common.
    ///
    /// Two frames of a direction and type may always be a changed frame: together they cost less than a removal and an addition.
    /// For different types, at least half of their content must be the same.
    func cost(_ old: Int, _ new: Int, sameKind: Bool) -> Int? {
        if old == new { return 0 }
        var sum = Sum()
        forEachPair(old, new) { path, left, right in
            let weight = weight(of: path)
            sum.weight += weight * 1_000
            guard let left, let right else { return }
            sum.same += left == right ? weight * 1_000 : weight * Self.likeness(values[left], values[right])
        }
        let difference = sum.weight == 0 ? 0 : (sum.weight - sum.same) * 1_000 / sum.weight
        if sameKind { return 150 + difference * 6 / 5 }
        return difference <= 500 ? 500 + difference : nil
    }

    /// Iterates over the paths of two contents, with the number of each one's value.
    func forEachPair(_ old: Int, _ new: Int, _ use: (_ path: Int, _ old: Int?, _ new: Int?) -> Void) {
        let (left, right) = (leaves(of: old), leaves(of: new))
        var (i, j) = (left.startIndex, right.startIndex)
        while i < left.endIndex || j < right.endIndex {
            if j == right.endIndex || (i < left.endIndex && left[i].path < right[j].path) {
                use(left[i].path, left[i].value, nil)
                i += 1
            } else if i == left.endIndex || right[j].path < left[i].path {
                use(right[j].path, nil, right[j].value)
                j += 1
            } else {
                use(left[i].path, left[i].value, right[j].value)
                i += 1
                j += 1
            }
        }
    }

    private func weight(of path: Int) -> Int {
        switch paths.steps[path] {
        case [.member("type")], [.member("body"), .member("text")], [.member("body"), .member("hex")]: 2
        default: 1
        }
    }

    /// The common prefix and suffix of two texts, in thousandths of their length.
    private static func likeness(_ old: JSONValue, _ new: JSONValue) -> Int {
        guard case .text(let old) = old, case .text(let new) = new else { return 0 }
        let (left, right) = (old.utf8, new.utf8)
        let longest = max(left.count, right.count)
        guard longest > 0 else { return 1_000 }
        // Examining more would take long, with little gain.
        let most = min(left.count, right.count, 512)
        let prefix = zip(left.prefix(most), right).prefix { $0 == $1 }.count
        let suffix = zip(left.reversed().prefix(most - prefix), right.reversed()).prefix { $0 == $1 }.count
        return (prefix + suffix) * 1_000 / min(longest, 1_024)
    }
}
