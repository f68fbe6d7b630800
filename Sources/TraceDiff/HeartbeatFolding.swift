import Streams
import Trace

/// Removes heartbeats from two conversations and compares their numbers.
struct HeartbeatFolding {
    private struct Key: Hashable, Comparable {
        var from: Direction
        var type: String?

        static func < (left: Key, right: Key) -> Bool {
            (left.from.rawValue, left.type ?? "") < (right.from.rawValue, right.type ?? "")
        }
    }

    private struct Beats {
        var times: [Timestamp] = []
        var contents: [Int] = []
        /// Where they are among the connection's items.
        var places: [Int] = []

        mutating func add(_ time: Timestamp, _ content: Int, _ place: Int) {
            times.append(time)
            contents.append(content)
            places.append(place)
        }
    }

    /// Compares the heartbeats of two connections.
    static func compare(
        _ expected: RecordedConnection, _ actual: RecordedConnection, _ table: inout ContentTable
    ) -> [HeartbeatDifference] {
        let old = beats(of: expected, &table)
        let new = beats(of: actual, &table)
        return Set(old.keys).union(new.keys).sorted().map { key in
            let (left, right) = (old[key] ?? Beats(), new[key] ?? Beats())
            var difference = HeartbeatDifference(
                from: key.from, type: key.type, expected: left.times.count, actual: right.times.count,
                allowance: allowance(left.times, right.times, expected, actual))
            // Heartbeats that count, or carry a time, differ each time anyway.
            guard let usual = left.contents.first, Set(left.contents).count == 1, let first = left.places.first
            else { return difference }
            var compared: Set<Int> = [usual]
            for (place, content) in zip(right.places, right.contents) where compared.insert(content).inserted {
                let (old, new) = (expected.items[first], actual.items[place])
                let changes = BodyLengths.leavingOut(table.changes(usual, content), old, new)
                if changes.isEmpty { continue }
                difference.changes = changes
                (difference.expectedFrame, difference.actualFrame) = (old.frame, new.frame)
                break
            }
            return difference
        }
    }

    private static func beats(of connection: RecordedConnection, _ table: inout ContentTable) -> [Key: Beats] {
        var beats: [Key: Beats] = [:]
        let items = connection.items
        let places = items.indices.filter { items.isHeartbeat(at: $0) }
        if places.isEmpty { return [:] }
        let entries = table.enter(items.filtered { items.isHeartbeat(at: $0) })
        for (place, entry) in zip(places, entries) {
            guard let content = items.content(at: place) else { continue }
            let kind = items.kinds[Int(content.kind)]
            beats[Key(from: kind.from, type: kind.type), default: Beats()].add(
                items.time(at: place), entry.content, place)
        }
        return beats
    }

    /// As many heartbeats as fit into the time by which one conversation is longer, at the observed pace.
    ///
    /// If there is only one, and so no pace, it counts whether the shorter conversation was over before it was sent.
    private static func allowance(
        _ old: [Timestamp], _ new: [Timestamp], _ expected: RecordedConnection, _ actual: RecordedConnection
    ) -> Int {
        let durations = (duration(of: expected), duration(of: actual))
        let difference = abs(durations.0 - durations.1)
        guard let pace = pace(old) ?? pace(new), pace > 0 else {
            let (only, opened) = old.isEmpty ? (new.first, actual.opened) : (old.first, expected.opened)
            guard old.isEmpty || new.isEmpty, let only else { return 0 }
            return (only - opened).seconds >= min(durations.0, durations.1) ? 1 : 0
        }
        return Int(min(1e9, (difference / pace).rounded(.up)))
    }

    /// The median pause between heartbeats in seconds; nil for fewer than two.
    private static func pace(_ times: [Timestamp]) -> Double? {
        guard times.count > 1 else { return nil }
        let pauses = zip(times.dropFirst(), times).map { ($0 - $1).seconds }.sorted()
        return pauses[pauses.count / 2]
    }

    private static func duration(of connection: RecordedConnection) -> Double {
        let last = max(connection.closing?.time ?? connection.opened, connection.lastTime)
        return (last - connection.opened).seconds
    }
}

extension ContentTable {
    /// What differs between two contents, by paths.
    func changes(_ old: Int, _ new: Int) -> [FieldChange] {
        var changes: [FieldChange] = []
        forEachPair(old, new) { path, left, right in
            guard left != right else { return }
            changes.append(
                FieldChange(
                    path: FieldPath(paths.steps[path]).description, old: left.map { values[$0] },
                    new: right.map { values[$0] }))
        }
        return changes
    }
}
