import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

/// Properties of any traces.
@Suite struct PropertyTests {
    @Test func aTraceIsTheSameAtAnotherTimeOnOtherPortsAndCutAnew() {
        for seed in 0..<40 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let conversations = (0..<Int.random(in: 1...5, using: &generator)).map { _ in
                Traces.conversation(Int.random(in: 0...60, using: &generator), using: &generator)
            }
            let trace = Traces.trace(conversations)
            var other = trace
            for index in other.connections.indices {
                let shift = Interval.milliseconds(Int64.random(in: -1_000_000...1_000_000, using: &generator))
                other.connections[index].client = "[::1]:\(Int.random(in: 1...65_535, using: &generator))"
                other.connections[index].opened = other.connections[index].opened + shift
                for place in other.connections[index].items.indices {
                    guard case .frame(var frame) = other.connections[index].items[place] else { continue }
                    frame.time = frame.time + shift + .milliseconds(Int64.random(in: 0...90, using: &generator))
                    frame.segments = Int.random(in: 1...9, using: &generator)
                    frame.merged.toggle()
                    frame.offset += 17
                    other.connections[index].items[place] = .frame(frame)
                }
            }
            other.connections.shuffle(using: &generator)
            let difference = TraceComparison.compare(expected: trace, actual: other)
            #expect(difference.isEmpty, "seed \(seed): \(difference.counts)")
        }
    }

    /// Applies the reported differences to the expected frames of one side.
    private func applied(_ difference: ConversationDifference, _ from: Direction) -> [RecordedItem] {
        var fates: [Int: ConversationDifference.Row] = [:]
        var placed: [Int: RecordedItem] = [:]
        for row in difference.rows {
            switch row {
            case .same(let old, let new), .crossed(let old, let new):
                placed[new] = difference.expectedItems[old]
            case .moved(let old, let new): placed[new] = difference.expectedItems[old]
            case .changed(let old, let new, let changes):
                placed[new] = changes.reduce(difference.expectedItems[old]) { apply($1, to: $0) }
            case .removed(let old): fates[old] = row
            case .added(let new): placed[new] = difference.actualItems[new]
            }
        }
        #expect(fates.count + placed.count >= difference.expectedItems.count)
        return placed.sorted { $0.key < $1.key }.map(\.value).filter { $0.from == from }
    }

    private func apply(_ change: FieldChange, to item: RecordedItem) -> RecordedItem {
        guard case .frame(var frame) = item else { return item }
        let steps = change.path.split(separator: ".").map(String.init)
        func replace(_ object: JSONValue, _ name: String) -> JSONValue {
            guard case .object(var members) = object else { return object }
            let place = members.firstIndex { $0.name == name } ?? members.endIndex
            if place < members.endIndex { members.remove(at: place) }
            if let new = change.new { members.insert(.init(name, new), at: min(place, members.endIndex)) }
            return .object(members)
        }
        switch steps[0] {
        case "type": frame.type = change.new?.string
        case "fields": frame.fields = replace(frame.fields, steps[1])
        default: frame.body = replace(frame.body, steps[1])
        }
        return .frame(frame)
    }

    private func content(_ item: RecordedItem) -> [String] {
        guard let frame = item.frame else { return [] }
        guard case .object(let fields) = frame.fields else { return [] }
        return [frame.from.sender, frame.type ?? "-", frame.text ?? "-"]
            + fields.map { "\($0.name)=\($0.value.compactText)" }.sorted()
    }

    @Test func whatIsReportedMakesOneSideOfTheOther() {
        for seed in 100..<220 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let old = Traces.conversation(Int.random(in: 0...120, using: &generator), using: &generator)
            var new = old
            for _ in 0..<Int.random(in: 0...20, using: &generator) where !new.isEmpty {
                let place = Int.random(in: 0..<new.count, using: &generator)
                let fresh = Traces.conversation(1, using: &generator)
                switch Int.random(in: 0..<5, using: &generator) {
                case 0: new.remove(at: place)
                case 1: new.insert(contentsOf: fresh, at: place)
                case 2: new.swapAt(place, Int.random(in: 0..<new.count, using: &generator))
                case 3: new[place].fields = fresh[0].fields
                default: new[place].body = fresh[0].body
                }
            }
            let difference = TraceComparison.compare(expected: Traces.trace([old]), actual: Traces.trace([new]))
            for conversation in difference.conversations
            where conversation.expected != nil && conversation.actual != nil {
                for direction in Direction.allCases {
                    let made = applied(conversation, direction).map(content)
                    let wanted = conversation.actualItems.filter { $0.from == direction }.map(content)
                    #expect(made == wanted, "seed \(seed)")
                }
            }
        }
    }

    /// A minimal report: no more is reported than was changed.
    @Test func fewEditsOfALongConversationAreReportedAsSuch() {
        for seed in 300..<306 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let old = Traces.conversation(3_000, using: &generator)
            var new = old
            var edits = 0
            var place = 10
            while place < new.count - 10 {
                new[place].body = .object([.init("length", .number("3")), .init("text", .text("new \(place)"))])
                edits += 1
                place += Int.random(in: 40...200, using: &generator)
            }
            let difference = TraceComparison.compare(expected: Traces.trace([old]), actual: Traces.trace([new]))
            #expect(difference.counts.map(\.kind) == ["changed"], "seed \(seed)")
            #expect(difference.counts.first?.count == edits, "seed \(seed)")
        }
    }

    @Test func connectionsAreFoundInAnyOrderAndTheOddOneIsReportedWhole() throws {
        for seed in 400..<420 as Range<UInt64> {
            var generator = SeededGenerator(seed: seed)
            let conversations = (0..<6).map { _ in Traces.conversation(30, using: &generator) }
            var changed = conversations
            for index in changed.indices { changed[index].remove(at: Int.random(in: 0..<30, using: &generator)) }
            let order = changed.indices.shuffled(using: &generator)
            let odd = order[0]
            let trace = Traces.trace(conversations)
            let other = Traces.trace(order.dropFirst().map { changed[$0] })
            let difference = TraceComparison.compare(expected: trace, actual: other)
            let alone = try #require(difference.conversations.first { $0.actual == nil })
            #expect(alone.expected?.number == odd + 1, "seed \(seed)")
            #expect(alone.rows.count == 30)
            #expect(difference.counts.map(\.kind) == ["removed connection", "removed"])
            #expect(difference.counts.map(\.count) == [1, 30 + 5], "seed \(seed)")
        }
    }
}
