/// Matches the connections of two traces by their content.
///
/// Connections with the same content are matched. The others are assigned so that the total difference is least; a connection
/// without partner costs as much as all of its content. With more than `most` connections per side, each is assigned the best of
/// the next few that are left: an approximation.
enum ConnectionMatching {
    /// How many connections per side are assigned exactly.
    static let most = 256
    /// How many are considered beyond that.
    private static let near = 32

    /// The places of two matching connections; nil: no partner.
    struct Match: Hashable {
        var old: Int?
        var new: Int?
    }

    /// The identity of a connection.
    struct Profile {
        /// The numbers of all contents, in order.
        var contents: [Int]
        /// The numbers of their kinds.
        var kinds: [Int]
        /// The format's name.
        var format: String?

        /// The cost of having no partner.
        var alone: Int { 2 * contents.count + 1 }
    }

    /// How often a connection has each content and kind.
    private struct Counts {
        private let count: Int
        private var contents: [Int: Int] = [:]
        private var kinds: [Int: Int] = [:]

        init(_ profile: Profile) {
            count = profile.contents.count
            for content in profile.contents { contents[content, default: 0] += 1 }
            for kind in profile.kinds { kinds[kind, default: 0] += 1 }
        }

        /// The difference: 2 for an item without counterpart, 1 for one with a counterpart of its kind. Nil if nothing matches.
        func distance(to other: Counts) -> Int? {
            func shared(_ left: [Int: Int], _ right: [Int: Int]) -> Int {
                let (few, many) = left.count < right.count ? (left, right) : (right, left)
                return few.reduce(0) { $0 + min($1.value, many[$1.key] ?? 0) }
            }
            let same = shared(kinds, other.kinds)
            if same == 0, count > 0, other.count > 0 { return nil }
            return 2 * (count + other.count) - 2 * same - 2 * shared(contents, other.contents)
        }
    }

    private struct Key: Hashable {
        var contents: [Int]
        var format: String?
    }

    /// Matches in the order of the old side; those without an old one come last.
    static func match(_ old: [Profile], _ new: [Profile]) -> [Match] {
        var partners: [Int: Int] = [:]
        var equal: [Key: [Int]] = [:]
        for (place, profile) in new.enumerated().reversed() {
            equal[Key(contents: profile.contents, format: profile.format), default: []].append(place)
        }
        for (place, profile) in old.enumerated() {
            partners[place] = equal[Key(contents: profile.contents, format: profile.format)]?.popLast()
        }
        let taken = Set(partners.values)
        let left = old.indices.filter { partners[$0] == nil }
        let right = new.indices.filter { !taken.contains($0) }
        let found = max(left.count, right.count) <= most ? assign(left, right, old, new) : pick(left, right, old, new)
        partners.merge(found) { first, _ in first }
        let all = Set(partners.values)
        return old.indices.map { Match(old: $0, new: partners[$0]) }
            + new.indices.filter { !all.contains($0) }.map { Match(old: nil, new: $0) }
    }

    private static func assign(_ left: [Int], _ right: [Int], _ old: [Profile], _ new: [Profile]) -> [Int: Int] {
        if left.isEmpty || right.isEmpty { return [:] }
        // In addition to its possible partners, each may have none.
        let size = left.count + right.count
        let counts = (left.map { Counts(old[$0]) }, right.map { Counts(new[$0]) })
        var cost = [[Int]](repeating: [Int](repeating: 0, count: size), count: size)
        let never = 1 << 40
        for row in 0..<size {
            for column in 0..<size {
                switch (row < left.count, column < right.count) {
                case (true, true):
                    let distance = counts.0[row].distance(to: counts.1[column])
                    // All else being equal, in order of opening.
                    cost[row][column] = distance.map { $0 * 1_024 + min(1_023, abs(row - column)) } ?? never
                case (true, false): cost[row][column] = old[left[row]].alone * 1_024
                case (false, true): cost[row][column] = new[right[column]].alone * 1_024
                case (false, false): break
                }
            }
        }
        var partners: [Int: Int] = [:]
        for (row, column) in Assignment.cheapest(cost).enumerated() where row < left.count && column < right.count {
            if cost[row][column] < never { partners[left[row]] = right[column] }
        }
        return partners
    }

    private static func pick(_ left: [Int], _ right: [Int], _ old: [Profile], _ new: [Profile]) -> [Int: Int] {
        var partners: [Int: Int] = [:]
        var rest = right.map { (place: $0, counts: Counts(new[$0])) }
        for place in left {
            let counts = Counts(old[place])
            let known = rest.prefix(near).enumerated().compactMap { index, other in
                counts.distance(to: other.counts).map { (index: index, distance: $0) }
            }
            guard let best = known.min(by: { $0.distance < $1.distance }),
                best.distance < old[place].alone + new[rest[best.index].place].alone
            else { continue }
            partners[place] = rest.remove(at: best.index).place
        }
        return partners
    }
}
