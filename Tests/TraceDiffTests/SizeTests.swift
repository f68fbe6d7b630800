import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

/// Long traces, and traces that have nothing in common, are compared in bounded steps: these tests terminate.
@Suite struct SizeTests {
    @Test func aHundredThousandFramesWithAFewHundredDifferences() {
        var generator = SeededGenerator(seed: 7)
        let old = (0..<100_000).map { number in
            Traces.frame(
                number.isMultiple(of: 2) ? .fromClient : .fromServer, "txt", "text \(number % 5_000)",
                fields: ["id": .number("\(number / 3)")])
        }
        var new = old
        var expected = 0
        for place in stride(from: 99_900, to: 100, by: -400) {
            expected += 1
            switch Int.random(in: 0..<3, using: &generator) {
            case 0: new.remove(at: place)
            case 1: new.insert(Traces.frame(.fromServer, "new", "frame \(place)"), at: place)
            default: new[place].body = .object([.init("length", .number("1")), .init("text", .text("x"))])
            }
        }
        let difference = TraceComparison.compare(expected: Traces.trace([old]), actual: Traces.trace([new]))
        #expect(difference.counts.reduce(0) { $0 + $1.count } == expected)
    }

    @Test func everyFrameIsAnother() {
        func trace(_ run: Int) -> RecordedTrace {
            Traces.trace([
                (0..<10_000).map { number in
                    Traces.frame(
                        .fromClient, "txt", "text", fields: ["id": .number("\(number)"), "run": .number("\(run)")])
                }
            ])
        }
        var shorter = trace(2)
        shorter.connections[0].items.removeSubrange(5_000..<5_010)
        let difference = TraceComparison.compare(expected: trace(1), actual: shorter)
        #expect(difference.counts.map(\.kind) == ["changed", "removed"])
        #expect(difference.counts.map(\.count) == [9_990, 10])
        // They were matched with their own partners: only the run differs.
        let rows = difference.conversations[0].rows
        #expect(rows.allSatisfy { if case .changed(_, _, let changes) = $0 { changes.count == 1 } else { true } })
    }

    @Test func aFrameWithManyBoundValues() throws {
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(
            in: """
                bind:
                  - name: id
                    places: [{ from: client, path: 'body.json[*]' }, { from: server, path: 'body.json[*]' }]
                """, file: "rules.yaml")
        func trace(_ first: Int, wrong: Int? = nil) -> RecordedTrace {
            func frame(_ from: Direction, wrong: Int? = nil) -> FrameEvent {
                var frame = Traces.frame(from, "ids")
                let ids = (0..<40_000).map { JSONValue.number("\($0 == wrong ? 7 : first + $0)") }
                frame.body = .object([.init("length", .number("1")), .init("json", .array(ids))])
                return frame
            }
            return Traces.trace([[frame(.fromClient), frame(.fromServer, wrong: wrong)]])
        }
        let same = TraceComparison.compare(expected: trace(100_000), actual: trace(200_000), comparison)
        #expect(same.isEmpty)
        let wrong = TraceComparison.compare(
            expected: trace(100_000), actual: trace(200_000, wrong: 30_000), comparison)
        let change = FieldChange(
            path: "body.json[30000]", old: .number("230000"), new: .number("7"), note: "should repeat id")
        #expect(wrong.conversations[0].rows.last == .changed(expected: 1, actual: 1, [change]))
    }

    @Test func manyConnections() {
        let conversations = (0..<1_000).map { number in
            [Traces.frame(.fromClient, "a", "text \(number)"), Traces.frame(.fromServer, "b", "text \(number % 10)")]
        }
        var other = Traces.trace(conversations.reversed())
        #expect(TraceComparison.compare(expected: Traces.trace(conversations), actual: other).isEmpty)
        for index in other.connections.indices { other.connections[index].closing?.reason = "timeout" }
        let difference = TraceComparison.compare(expected: Traces.trace(conversations), actual: other)
        #expect(difference.counts.map(\.count) == [1_000])
    }

    /// Connections that are like no other are not in the way of those that come after them.
    @Test(arguments: [("x", "im-json"), ("x", "line"), ("a", "line")])
    func manyConnectionsAfterSomeOfAnotherKind(type: String, format: String) {
        func conversations(_ run: Int) -> [[FrameEvent]] {
            (0..<300).map { number in
                [
                    Traces.frame(.fromClient, "a", "text \(number)"),
                    Traces.frame(
                        .fromServer, "b", "text", fields: ["id": .number("\(number)"), "run": .number("\(run)")]),
                ]
            }
        }
        let others = (0..<32).map { [Traces.frame(.fromClient, type, "other \($0)")] }
        var actual = Traces.trace(others + conversations(2))
        for index in others.indices { actual.connections[index].format = format }
        let difference = TraceComparison.compare(expected: Traces.trace(conversations(1)), actual: actual)
        #expect(difference.counts.map(\.kind) == ["added connection", "changed", "added"])
        #expect(difference.counts.map(\.count) == [32, 300, 32])
    }
}
