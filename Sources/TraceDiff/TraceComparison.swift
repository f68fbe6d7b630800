import Framing
import Streams
import Trace

/// Compares two traces.
package struct TraceComparison {
    private let comparison: Comparison
    private var table: ContentTable
    /// Which values of bindings stand for each other.
    private var values = BoundValues()

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
        let (expected, actual) = (expected.map(withoutIgnored), actual.map(withoutIgnored))
        let old = expected.map { side(of: $0) }
        let new = actual.map { side(of: $0) }
        let matches = ConnectionMatching.match(
            zip(expected, old).map { profile($0, $1) }, zip(actual, new).map { profile($0, $1) }, table)
        let frames = matchFrames(matches, old, new)
        var all = TraceDifference(
            conversations: zip(matches, frames).map { match, frames in
                var difference = ConversationDifference()
                if let place = match.old {
                    difference.expected = expected[place]
                    difference.expectedItems = old[place].items
                }
                if let place = match.new {
                    difference.actual = actual[place]
                    difference.actualItems = new[place].items
                }
                switch (match.old, match.new, frames) {
                case (let left?, let right?, let frames?):
                    compare(expected[left], old[left], actual[right], new[right], frames, &difference)
                case (let left?, _, _): difference.rows = old[left].items.indices.map { .removed(expected: $0) }
                case (nil, let right?, _): difference.rows = new[right].items.indices.map { .added(actual: $0) }
                case (nil, nil, _): break
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

    private func withoutIgnored(_ connection: RecordedConnection) -> RecordedConnection {
        let rules = comparison.rules
        if rules.ignoredFrames.isEmpty { return connection }
        var connection = connection
        let items = connection.items
        connection.items = items.filtered { place in
            guard let content = items.content(at: place) else { return true }
            let kind = items.kinds[Int(content.kind)]
            return !rules.ignoresFrame(kind.from, kind.type)
        }
        return connection
    }

    private func profile(_ connection: RecordedConnection, _ side: Side) -> ConnectionMatching.Profile {
        var contents = side.entries.map(\.content)
        if table.hasUnordered {
            contents = side.entries.filter { !table.isUnordered($0) }.map(\.content)
            contents += side.entries.filter { table.isUnordered($0) }.map(\.content).sorted()
        }
        return ConnectionMatching.Profile(
            contents: contents, kinds: side.entries.map(\.kind), format: connection.format)
    }

    /// Matches the frames of all connections that are partners; nil for others.
    private mutating func matchFrames(
        _ matches: [ConnectionMatching.Match], _ old: [Side], _ new: [Side]
    ) -> [MatchedFrames?] {
        var frames: [MatchedFrames?] = []
        for match in matches {
            guard let left = match.old.map({ old[$0] }), let right = match.new.map({ new[$0] }) else {
                frames.append(nil)
                continue
            }
            let found = MatchedFrames(left.entries, right.entries, table)
            note(found.pairs + found.moved, left, right)
            frames.append(found)
        }
        values.settle()
        guard table.hasUnordered else { return frames }
        // First those with a binding's first value, so that those that repeat it find their partners.
        for isFirst in [true, false] {
            for (place, match) in matches.enumerated() {
                guard let left = match.old.map({ old[$0] }), let right = match.new.map({ new[$0] }) else { continue }
                let found = frames[place]?.matchUnordered(
                    left.entries, right.entries, table, isFirst: isFirst, values)
                note(found ?? [], left, right)
            }
            values.settle()
        }
        return frames
    }

    /// Notes the bound values of frames that belong together.
    private mutating func note(_ pairs: [MatchedFrames.Pair], _ old: Side, _ new: Side) {
        if comparison.rules.bindings.isEmpty { return }
        for pair in pairs {
            values.add(old.entries[pair.old], new.entries[pair.new], at: old.items.time(at: pair.old))
        }
    }

    private mutating func compare(
        _ expected: RecordedConnection, _ old: Side, _ actual: RecordedConnection, _ new: Side,
        _ frames: MatchedFrames, _ difference: inout ConversationDifference
    ) {
        let crossed = crossings(in: frames.pairs)
        difference.crossings = crossed.count(where: \.self)
        let times = PauseComparison(expected, old.items, actual, new.items, frames.pairs, comparison)
        var rows = [ConversationDifference.Row?](repeating: nil, count: old.items.count)
        for (index, pair) in frames.pairs.enumerated() {
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
        for pair in frames.unordered {
            let changes = self.changes(old, new, pair)
            rows[pair.old] =
                changes.isEmpty
                ? .same(expected: pair.old, actual: pair.new)
                : .changed(expected: pair.old, actual: pair.new, changes)
        }
        for pair in frames.moved { rows[pair.old] = .moved(expected: pair.old, actual: pair.new) }
        difference.rows = ordered(rows, new.items.count, loose: (frames.moved + frames.unordered).map(\.new))
        if comparison.heartbeats == .count {
            difference.heartbeats = HeartbeatFolding.compare(expected, actual, &table)
        }
        difference.changes = connectionChanges(expected, actual)
        difference.ending = uncomparedEnding(expected, actual)
    }

    /// The rows in the order of the expected side; added ones are before the row they precede.
    ///
    /// - Parameter loose: the actual places of frames whose place says nothing about that of others.
    private func ordered(
        _ rows: [ConversationDifference.Row?], _ newCount: Int, loose: [Int]
    ) -> [ConversationDifference.Row] {
        var isLoose = [Bool](repeating: false, count: newCount)
        for place in loose { isLoose[place] = true }
        var partner = isLoose
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
            case .same(_, let new), .changed(_, let new, _), .crossed(_, let new):
                if !isLoose[new] { add(before: new) }
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

    private func changes(_ old: Side, _ new: Side, _ pair: ConversationAlignment.Pair) -> [FieldChange] {
        let (left, right) = (old.entries[pair.old], new.entries[pair.new])
        var changes: [FieldChange] = []
        if left.content != right.content {
            changes = BodyLengths.leavingOut(
                table.changes(left.content, right.content), old.items[pair.old], new.items[pair.new])
            changes += cutChange(changes, old.items[pair.old], new.items[pair.new]).map { [$0] } ?? []
        }
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

    /// If bodies differ of which one was cut when it was traced, that is why.
    private func cutChange(_ changes: [FieldChange], _ old: RecordedItem, _ new: RecordedItem) -> FieldChange? {
        guard changes.contains(where: { $0.path.hasPrefix("body") }),
            case .frame(let old) = old, case .frame(let new) = new
        else { return nil }
        let (left, right) = (old.body["truncated"], new.body["truncated"])
        return left == right ? nil : FieldChange(path: "body.truncated", old: left, new: right)
    }

    /// Values of bindings: the partner of a value must occur wherever the value occurs on the other side.
    private func boundChanges(_ old: ContentTable.Entry, _ new: ContentTable.Entry) -> [FieldChange] {
        BoundValues.shared(old, new).filter { !values.isPair($0.old, $0.new) }.map { left, right in
            FieldChange(
                path: FieldPath(table.paths.steps[left.path]).description, old: values.partner(of: left) ?? left.value,
                new: right.value, note: "should repeat \(comparison.rules.bindings[left.binding].name)")
        }
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
        let ending = uncomparedEnding(expected, actual)
        if ending == nil { compare("closed.reason", expected.closing?.reason, actual.closing?.reason) }
        if ending == .unknown { return changes }
        compare("closed.by", expected.closing?.by?.sender, actual.closing?.by?.sender)
        return changes
    }
}

extension TraceComparison {
    /// How the ends differ, if that is chance and not compared on request.
    private func uncomparedEnding(
        _ expected: RecordedConnection, _ actual: RecordedConnection
    ) -> UncomparedEnding? {
        guard !comparison.aspects.contains(.endings), let old = expected.closing?.reason,
            let new = actual.closing?.reason, old != new
        else { return nil }
        let reasons = [CloseReason(rawValue: old), CloseReason(rawValue: new)]
        if reasons.contains(.endOfInput) { return .unknown }
        return reasons == [.fin, .reset] || reasons == [.reset, .fin] ? .finOrReset : nil
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
