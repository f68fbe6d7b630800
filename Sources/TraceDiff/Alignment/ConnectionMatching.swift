/// Matches the connections of two traces by their content.
///
/// Connections with the same content are matched. The others are assigned so that the total difference is least; a connection
/// without partner costs as much as all of its content. Frames count that are the same as a whole; if every frame differs, as one
/// with a new identifier does, the values that are the same decide. With more than `most` connections per side, each is assigned
/// the best of the next few that are left and have anything in common with it: an approximation.
enum ConnectionMatching {
    /// How many connections per side are assigned exactly.
    static let most = 256
    /// How many are considered for each one beyond that.
    private static let near = 32
    /// How many values of a connection are compared, those of its first frames.
    private static let compared = 2_048

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
        var alone: Int { contents.count * Counts.item + Counts.item / 2 }
    }

    /// How often a connection has each content and kind, and its values.
    private struct Counts {
        /// What values cost if none is the same.
        private static let unlike = 1_024
        /// What an item without counterpart costs, always more than values.
        static let item = 2 * unlike

        private let count: Int
        private var contents: [Int: Int] = [:]
        private var kinds: [Int: Int] = [:]
        /// The values of its first frames with their paths, sorted.
        private let values: [UInt64]

        init(_ profile: Profile, _ table: ContentTable) {
            count = profile.contents.count
            for content in profile.contents { contents[content, default: 0] += 1 }
            for kind in profile.kinds { kinds[kind, default: 0] += 1 }
            values = profile.contents.lazy.flatMap { table.leaves(of: $0) }.prefix(ConnectionMatching.compared)
                .map(\.joined).sorted()
        }

        /// The difference: `item` for an item without counterpart, half of it for one with a counterpart of its kind; less than that
        /// for all values that differ. Nil if nothing matches.
        func distance(to other: Counts) -> Int? {
            func shared(_ left: [Int: Int], _ right: [Int: Int]) -> Int {
                let (few, many) = left.count < right.count ? (left, right) : (right, left)
                return few.reduce(0) { $0 + min($1.value, many[$1.key] ?? 0) }
            }
            let same = shared(kinds, other.kinds)
            if same == 0, count > 0, other.count > 0 { return nil }
            let items = count + other.count - same - shared(contents, other.contents)
            return items * Self.item + difference(of: other.values)
        }

        /// The part of both connections' values that have no counterpart, less than `unlike`.
        private func difference(of other: [UInt64]) -> Int {
            let all = values.count + other.count
            if all == 0 { return 0 }
            var (shared, place, otherPlace) = (0, 0, 0)
            while place < values.count, otherPlace < other.count {
                let (left, right) = (values[place], other[otherPlace])
                if left == right { shared += 1 }
                if left <= right { place += 1 }
                if right <= left { otherPlace += 1 }
            }
            return (all - 2 * shared) * (Self.unlike - 1) / all
        }
    }

    private struct Key: Hashable {
        var contents: [Int]
        var format: String?
    }

    /// Matches in the order of the old side; those without an old one come last.
    ///
    /// - Parameter table: has the contents of both sides.
    static func match(_ old: [Profile], _ new: [Profile], _ table: ContentTable) -> [Match] {
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
        let found =
            max(left.count, right.count) <= most
            ? assign(left, right, old, new, table) : pick(left, right, old, new, table)
        partners.merge(found) { first, _ in first }
        let all = Set(partners.values)
        return old.indices.map { Match(old: $0, new: partners[$0]) }
            + new.indices.filter { !all.contains($0) }.map { Match(old: nil, new: $0) }
    }

    private static func assign(
        _ left: [Int], _ right: [Int], _ old: [Profile], _ new: [Profile], _ table: ContentTable
    ) -> [Int: Int] {
        if left.isEmpty || right.isEmpty { return [:] }
        // In addition to its possible partners, each may have none.
        let size = left.count + right.count
        let counts = (left.map { Counts(old[$0], table) }, right.map { Counts(new[$0], table) })
        var cost = [[Int]](repeating: [Int](repeating: 0, count: size), count: size)
        let never = 1 << 52
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

    /// Assigns each the best of the next few that have frames of a kind in common with it: others would never be taken, and stay in
    /// the way of all that follow.
    private static func pick(
        _ left: [Int], _ right: [Int], _ old: [Profile], _ new: [Profile], _ table: ContentTable
    ) -> [Int: Int] {
        var partners: [Int: Int] = [:]
        var taken: Set<Int> = []
        let counts = Dictionary(uniqueKeysWithValues: right.map { ($0, Counts(new[$0], table)) })
        // Those of another format only where none of the same one is left.
        for isSameFormat in [true, false] {
            var queues: [Bucket: Queue] = [:]
            for place in right where !taken.contains(place) {
                for bucket in Bucket.all(of: new[place], isSameFormat) {
                    queues[bucket, default: Queue()].places.append(place)
                }
            }
            for place in left where partners[place] == nil {
                let own = Counts(old[place], table)
                var next: Set<Int> = []
                for bucket in Bucket.all(of: old[place], isSameFormat) {
                    next.formUnion(queues[bucket]?.first(near, without: taken) ?? [])
                }
                let known = next.sorted().prefix(near).compactMap { other in
                    counts[other].flatMap { own.distance(to: $0) }.map { (place: other, distance: $0) }
                }
                guard let best = known.min(by: { $0.distance < $1.distance }) else { continue }
                partners[place] = best.place
                taken.insert(best.place)
            }
        }
        return partners
    }

    /// What connections that may be partners have in common.
    private struct Bucket: Hashable {
        /// Nil: any.
        var format: String?
        /// A kind of frame; nil: there are none.
        var kind: Int?

        /// Those of a connection.
        static func all(of profile: Profile, _ isSameFormat: Bool) -> [Bucket] {
            let format = isSameFormat ? profile.format : nil
            if profile.kinds.isEmpty { return [Bucket(format: format, kind: nil)] }
            return Set(profile.kinds).map { Bucket(format: format, kind: $0) }
        }
    }

    /// Connections in order, of which those that have no partner yet are wanted.
    private struct Queue {
        var places: [Int] = []
        private var passed = 0
        private var window: [Int] = []

        /// The first few of those that are not taken.
        mutating func first(_ count: Int, without taken: Set<Int>) -> [Int] {
            window.removeAll(where: taken.contains)
            while window.count < count, passed < places.count {
                if !taken.contains(places[passed]) { window.append(places[passed]) }
                passed += 1
            }
            return window
        }
    }
}
