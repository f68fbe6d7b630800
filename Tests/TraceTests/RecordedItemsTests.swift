import Framing
import Streams
import TestSupport
import Testing

@testable import Trace

/// Items are kept as records and texts: what is read of them is what was added.
@Suite struct RecordedItemsTests {
    @Test func theyAreAnArrayOfItems() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<60 {
            var (items, model): (RecordedItems, [RecordedItem]) = ([], [])
            var copy = (items: items, model: model)
            for _ in 0..<Int.random(in: 1...60, using: &generator) {
                let item = Self.item(&generator)
                let range = Self.range(in: model.count, &generator)
                switch Int.random(in: 0..<8, using: &generator) {
                case 0 where !model.isEmpty:
                    items[range.lowerBound % model.count] = item
                    model[range.lowerBound % model.count] = item
                case 1:
                    items.replaceSubrange(range, with: [item, item])
                    model.replaceSubrange(range, with: [item, item])
                case 2:
                    items.removeSubrange(range)
                    model.removeSubrange(range)
                case 3: items.compact()
                case 4: copy = (items, model)
                default:
                    items.append(item)
                    model.append(item)
                }
            }
            Self.expectSame(items, model, seed)
            Self.expectSame(copy.items, copy.model, seed)
            let chosen = model.indices.filter { _ in Bool.random(using: &generator) }
            Self.expectSame(items.selecting(chosen.reversed()), chosen.reversed().map { model[$0] }, seed)
            Self.expectSame(items.filtered { chosen.contains($0) }, chosen.map { model[$0] }, seed)
            #expect(items == RecordedItems(model), "seed \(seed)")
            if !model.isEmpty { #expect(items != RecordedItems(model.dropLast()), "seed \(seed)") }
        }
    }

    private static func expectSame(_ items: RecordedItems, _ model: [RecordedItem], _ seed: UInt64) {
        #expect(Array(items) == model, "seed \(seed)")
        #expect(items.count == model.count, "seed \(seed)")
        for (place, item) in model.enumerated() {
            #expect(items.time(at: place) == item.time && items.from(at: place) == item.from, "seed \(seed)")
            #expect(items.isHeartbeat(at: place) == (item.frame?.isHeartbeat ?? false), "seed \(seed)")
            #expect((items.content(at: place) != nil) == (item.frame != nil), "seed \(seed)")
        }
        for (i, left) in model.enumerated() {
            for (j, right) in model.enumerated() {
                guard let left = left.frame, let right = right.frame else { continue }
                let isSame = left.type == right.type && left.fields == right.fields && left.body == right.body
                let kinds = (items.content(at: i), items.content(at: j))
                let isSameKind =
                    kinds.0.map { items.kinds[Int($0.kind)].type } == kinds.1.map { items.kinds[Int($0.kind)].type }
                let isSameText = kinds.0?.fields == kinds.1?.fields && kinds.0?.body == kinds.1?.body
                #expect(isSame == (isSameKind && isSameText), "seed \(seed)")
            }
        }
    }

    /// What is said again is kept once.
    @Test func repeatedFramesTakeOneText() {
        var items = RecordedItems()
        for index in 0..<1_000 {
            var generator = SeededGenerator(seed: UInt64(index % 3))
            guard case .frame(var frame) = Self.frame(&generator) else { return }
            frame.index = index
            items.append(.frame(frame))
        }
        #expect(items.count == 1_000 && items.texts.count <= 6)
        #expect(items.map { $0.frame?.index } == Array(0..<1_000))
    }

    /// Those beyond the first few are looked up in another way.
    @Test func kindsHaveOneNumberEach() {
        var generator = SeededGenerator(seed: 1)
        guard case .frame(var frame) = Self.frame(&generator) else { return }
        var items = RecordedItems()
        let types = (0..<12).map { "type \($0)" }
        for _ in 0..<3 {
            for type in types {
                frame.type = type
                items.append(.frame(frame))
            }
        }
        #expect(items.kinds.map { $0.type ?? "" } == types)
        #expect(items.map { $0.frame?.type ?? "" } == types + types + types)
    }

    /// Unicode calls both of these é; their bytes differ, and a type is shown and sent as it came.
    @Test func equivalentTypesStayWhatTheyAre() {
        var generator = SeededGenerator(seed: 1)
        guard case .frame(var frame) = Self.frame(&generator) else { return }
        var items = RecordedItems()
        let types = ["\u{e9}", "e\u{301}", "\u{e9}"]
        for type in types {
            frame.type = type
            items.append(.frame(frame))
        }
        #expect(items.map { Array(($0.frame?.type ?? "").utf8) } == types.map { Array($0.utf8) })
    }

    @Test func textsHaveOneNumberEach() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (pool, numbers): (TextPool, [[UInt8]: Int]) = (TextPool(), [:])
        for round in 0..<3_000 {
            let length = Int.random(in: 0...4, using: &generator)
            let text = (0..<length).map { _ in UInt8.random(in: 0...5, using: &generator) }
            let number = pool.number(of: text.span.bytes)
            #expect(number == numbers[text] ?? numbers.count, "seed \(seed)")
            numbers[text] = number
            if round % 1_000 == 999 { pool.compact() }
        }
        #expect(pool.count == numbers.count)
        for (text, number) in numbers {
            #expect(pool.with(number) { $0.elementsEqual(text.span.bytes) }, "seed \(seed)")
        }
    }

    /// Different things may have the same hash.
    @Test func numbersAreFoundAfterOthersOfTheirHash() {
        var index = NumberIndex()
        var things: [String] = []
        for thing in (0..<500).map({ "thing \($0)" }) {
            let hash = thing.count
            #expect(index.find(hash) { things[$0] == thing } == nil)
            #expect(index.insert(hash) == things.count)
            things.append(thing)
        }
        for (number, thing) in things.enumerated() {
            #expect(index.find(thing.count) { things[$0] == thing } == number)
        }
        #expect(index.count == 500 && index.find(1_000) { _ in true } == nil)
    }

    // MARK: Random items

    private static func range(in count: Int, _ generator: inout SeededGenerator) -> Range<Int> {
        let start = Int.random(in: 0...count, using: &generator)
        return start..<min(count, start + Int.random(in: 0...3, using: &generator))
    }

    private static func item(_ generator: inout SeededGenerator) -> RecordedItem {
        let run = RunEvent(
            connection: 1, from: Bool.random(using: &generator) ? .fromClient : .fromServer, time: time(&generator),
            offset: 3, length: Int.random(in: 0...9, using: &generator))
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return .missing(run)
        case 1: return .unframed(run)
        default: return frame(&generator)
        }
    }

    private static func time(_ generator: inout SeededGenerator) -> Timestamp {
        Timestamp(nanoseconds: Int64.random(in: 0...1 << 60, using: &generator))
    }

    private static func frame(_ generator: inout SeededGenerator) -> RecordedItem {
        let types = [nil, "", "a", "b", "ä\u{1b}", "c", "d"]
        return .frame(
            FrameEvent(
                connection: Int.random(in: 1...3, using: &generator),
                leg: [nil, .in, .out].randomElement(using: &generator) ?? nil,
                from: Bool.random(using: &generator) ? .fromClient : .fromServer,
                index: Int.random(in: 0...1 << 53, using: &generator), time: time(&generator),
                started: time(&generator), offset: Int.random(in: 0...1 << 53, using: &generator),
                length: Int.random(in: 0...1 << 53, using: &generator),
                segments: Int.random(in: 0...Int(UInt32.max), using: &generator),
                merged: Bool.random(using: &generator), type: types.randomElement(using: &generator) ?? nil,
                isHeartbeat: Bool.random(using: &generator), fields: value(&generator, depth: 2),
                body: value(&generator, depth: 3)))
    }

    private static func value(_ generator: inout SeededGenerator, depth: Int) -> JSONValue {
        let texts = ["", "a", "\"\\\u{1b}\n\u{85}ä", "😀", "a long text, longer than a word of memory"]
        func text() -> String { texts.randomElement(using: &generator) ?? "" }
        func values() -> [JSONValue] {
            (0..<Int.random(in: 0...3, using: &generator)).map { _ in value(&generator, depth: depth - 1) }
        }
        switch Int.random(in: 0..<(depth > 0 ? 6 : 4), using: &generator) {
        case 0: return .null
        case 1: return .boolean(Bool.random(using: &generator))
        case 2:
            return .number(["0", "-1", "1.50", "1e3", "18446744073709551615"].randomElement(using: &generator) ?? "0")
        case 3: return .text(text())
        case 4: return .array(values())
        default: return .object(values().map { JSONValue.Member(text(), $0) })
        }
    }
}
