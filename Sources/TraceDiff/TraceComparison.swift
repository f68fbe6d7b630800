import Framing
import Streams
import Trace

/// Compares two traces.
package struct TraceComparison {
    private let comparison: Comparison
    private var table: ContentTable
    /// Which value of a binding on one side corresponds to one on the other.
    private var partners: [BoundValue: JSONValue] = [:]

    private struct BoundValue: Hashable {
        var binding: Int
        var isExpected: Bool
        var value: JSONValue
    }

    /// A connection without folded frames, and without anything that depends on segmentation.
    private struct Side {
        var items = RecordedItems()
        var entries: [ContentTable.Entry] = []
    }

    /// How two traces differ.
    package static func compare(
        expected: RecordedTrace, actual: RecordedTrace, _ comparison: Comparison = Comparison()
    ) -> TraceDifference {
        var compared = TraceComparison(comparison)
        return compared.compare(expected.connections, actual.connections)
    }

    private init(_ comparison: Comparison) {
        self.comparison = comparison
        table = ContentTable(comparison.rules)
    }

    private mutating func compare(_ expected: [RecordedConnection], _ actual: [RecordedConnection]) -> TraceDifference {
        let old = expected.map { side(of: $0) }
        let new = actual.map { side(of: $0) }
        let matches = ConnectionMatching.match(
            zip(expected, old).map { profile($0, $1) }, zip(actual, new).map { profile($0, $1) }, table)
        var all = TraceDifference(
            conversations: matches.map { match in
                var difference = ConversationDifference()
                if let place = match.old {
                    difference.expected = expected[place]
                    difference.expectedItems = old[place].items
                }
                if let place = match.new {
                    difference.actual = actual[place]
                    difference.actualItems = new[place].items
                }
                switch (match.old, match.new) {
                case (let left?, let right?): compare(expected[left], old[left], actual[right], new[right], &difference)
                case (let left?, nil): difference.rows = old[left].items.indices.map { .removed(expected: $0) }
                case (nil, let right?): difference.rows = new[right].items.indices.map { .added(actual: $0) }
                case (nil, nil): break
                }
                return difference
            })
        all.share = table.share
        all.hasRules = comparison.rules != TraceRules()
        return all
    }

    private mutating func side(of connection: RecordedConnection) -> Side {
        var items = connection.items.joiningRuns()
        if comparison.heartbeats != .exact { items = items.filtered { !items.isHeartbeat(at: $0) } }
        return Side(items: items, entries: table.enter(items))
    }

    private func profile(_ connection: RecordedConnection, _ side: Side) -> ConnectionMatching.Profile {
        ConnectionMatching.Profile(
            contents: side.entries.map(\.content), kinds: side.entries.map(\.kind), format: connection.format)
    }

    private mutating func compare(
        _ expected: RecordedConnection, _ old: Side, _ actual: RecordedConnection, _ new: Side,
        _ difference: inout ConversationDifference
    ) {
        let alignment = ConversationAlignment(old.entries, new.entries, table)
        let crossed = crossings(in: alignment.pairs)
        difference.crossings = crossed.count(where: \.self)
        let times = PauseComparison(expected, old.items, actual, new.items, alignment.pairs, comparison)
        var rows = [ConversationDifference.Row?](repeating: nil, count: old.items.count)
        for (index, pair) in alignment.pairs.enumerated() {
            var changes = self.changes(old, new, pair)
            if let change = times.change(at: index) { changes.append(change) }
            if !changes.isEmpty {
                rows[pair.old] = .changed(expected: pair.old, actual: pair.new, changes)
            } else if comparison.aspects.contains(.turns), crossed[index] {
                rows[pair.old] = .crossed(expected: pair.old, actual: pair.new)
            } else {
                rows[pair.old] = .same(expected: pair.old, actual: pair.new)
            }
        }
        for pair in alignment.moved { rows[pair.old] = .moved(expected: pair.old, actual: pair.new) }
        difference.rows = ordered(rows, new.items.count, moved: alignment.moved.map(\.new))
        if comparison.heartbeats == .count {
            difference.heartbeats = HeartbeatFolding.compare(expected, actual, &table)
        }
        difference.changes = connectionChanges(expected, actual)
        difference.endsOtherwise = endsOtherwise(expected, actual)
    }

    /// The rows in the order of the expected side; added ones are before the row they precede.
    private func ordered(
        _ rows: [ConversationDifference.Row?], _ newCount: Int, moved: [Int]
    ) -> [ConversationDifference.Row] {
        var partner = [Bool](repeating: false, count: newCount)
        for place in moved { partner[place] = true }
        for row in rows {
            switch row {
            case .same(_, let new), .changed(_, let new, _), .crossed(_, let new): partner[new] = true
            default: break
            }
        }
        var ordered: [ConversationDifference.Row] = []
        var next = 0
        func add(before end: Int) {
            while next < end {
                if !partner[next] { ordered.append(.added(actual: next)) }
                next += 1
            }
        }
        ordered.reserveCapacity(max(rows.count, newCount))
        for (place, row) in rows.enumerated() {
            switch row {
            case .same(_, let new), .changed(_, let new, _), .crossed(_, let new): add(before: new)
            default: break
            }
            ordered.append(row ?? .removed(expected: place))
        }
        add(before: newCount)
        return ordered
    }

    /// For each pair whether it is not in the same order on both sides; as few of them as possible.
    private func crossings(in pairs: [ConversationAlignment.Pair]) -> [Bool] {
        var crossed = [Bool](repeating: true, count: pairs.count)
        for place in LongestIncrease.places(in: pairs.map(\.new)) { crossed[place] = false }
        return crossed
    }

    // MARK: Values

    private mutating func changes(_ old: Side, _ new: Side, _ pair: ConversationAlignment.Pair) -> [FieldChange] {
        let (left, right) = (old.entries[pair.old], new.entries[pair.new])
        var changes = left.content == right.content ? [] : table.changes(left.content, right.content)
        changes += boundChanges(left, right)
        guard comparison.aspects.contains(.segments) || comparison.aspects.contains(.offsets),
            case .frame(let expected) = old.items[pair.old], case .frame(let actual) = new.items[pair.new]
        else { return changes }
        func compare(_ path: String, _ left: Int, _ right: Int) {
            if left != right {
                changes.append(FieldChange(path: path, old: .number(String(left)), new: .number(String(right))))
            }
        }
        if comparison.aspects.contains(.segments) {
            compare("segments", expected.segments, actual.segments)
            if expected.merged != actual.merged {
                changes.append(
                    FieldChange(path: "merged", old: .boolean(expected.merged), new: .boolean(actual.merged)))
            }
        }
        if comparison.aspects.contains(.offsets) {
            compare("offset", expected.offset, actual.offset)
            compare("length", expected.length, actual.length)
        }
        return changes
    }

    /// Values of bindings: the first value on one side must occur wherever its partner occurs on the other.
    private mutating func boundChanges(_ old: ContentTable.Entry, _ new: ContentTable.Entry) -> [FieldChange] {
        if old.bound.isEmpty { return [] }
        var changes: [FieldChange] = []
        for left in old.bound {
            guard let right = new.bound.first(where: { $0.path == left.path && $0.binding == left.binding }) else {
                continue
            }
            let here = BoundValue(binding: left.binding, isExpected: true, value: left.value)
            let there = BoundValue(binding: left.binding, isExpected: false, value: right.value)
            switch (partners[here], partners[there]) {
            case (nil, nil): (partners[here], partners[there]) = (right.value, left.value)
            case (right.value?, left.value?): continue
            case (let wanted, _):
                let name = comparison.rules.bindings[left.binding].name
                changes.append(
                    FieldChange(
                        path: FieldPath(table.paths.steps[left.path]).description, old: wanted ?? left.value,
                        new: right.value, note: "should repeat \(name)"))
            }
        }
        return changes
    }

    private func connectionChanges(_ expected: RecordedConnection, _ actual: RecordedConnection) -> [FieldChange] {
        var changes: [FieldChange] = []
        func compare(_ path: String, _ old: String?, _ new: String?) {
            if old != new, !isIgnored(path) {
                changes.append(FieldChange(path: path, old: old.map(JSONValue.text), new: new.map(JSONValue.text)))
            }
        }
        compare("format", expected.format, actual.format)
        if comparison.aspects.contains(.ports) {
            compare("client", expected.client, actual.client)
            compare("server", expected.server, actual.server)
        }
        if !endsOtherwise(expected, actual) || comparison.aspects.contains(.endings) {
            compare("closed.reason", expected.closing?.reason, actual.closing?.reason)
        }
        compare("closed.by", expected.closing?.by?.sender, actual.closing?.by?.sender)
        return changes
    }
}

extension TraceComparison {
    /// Whether one side ended with FIN, the other with a reset.
    private func endsOtherwise(_ expected: RecordedConnection, _ actual: RecordedConnection) -> Bool {
        let reasons = [expected.closing?.reason, actual.closing?.reason]
        return reasons == ["fin", "reset"] || reasons == ["reset", "fin"]
    }

    /// Whether a property of connections is ignored, such as `closed.by`.
    private func isIgnored(_ path: String) -> Bool {
        guard let steps = FieldPath(path)?.steps else { return false }
        return comparison.rules.ignored.contains { $0.from == nil && $0.type == nil && $0.path.covers(steps) }
    }
}

extension RecordedItems {
    /// The items with neighbouring pieces of one unframed run joined: traces split long ones.
    package func joiningRuns() -> RecordedItems {
        guard hasRuns else { return self }
        var joined: [RecordedItem] = []
        var last: [Direction: Int] = [:]
        for item in self {
            if case .unframed(let run) = item, let place = last[run.from], case .unframed(var before) = joined[place],
                before.reason == run.reason, before.offset + before.length == run.offset
            {
                // With another item in its place, the text is not copied for each piece.
                joined[place] = item
                before.length += run.length
                before.hex += run.hex
                joined[place] = .unframed(before)
            } else {
                last[item.from] = joined.count
                joined.append(item)
            }
        }
        return joined.count == count ? self : RecordedItems(joined)
    }
}
