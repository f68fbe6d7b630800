import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

/// Frames whose order does not matter, and frames that are ignored.
@Suite struct UnorderedTests {
    private static let pushes = "unordered: [{ from: server, type: push }]\n"

    private func compared(_ old: [FrameEvent], _ new: [FrameEvent], _ yaml: String) throws -> TraceDifference {
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(in: yaml, file: "rules.yaml")
        return TraceComparison.compare(expected: Traces.trace([old]), actual: Traces.trace([new]), comparison)
    }

    private func push(_ text: String, id: Int = 0) -> FrameEvent {
        Traces.frame(.fromServer, "push", text, fields: ["id": .number("\(id)")])
    }

    /// Frames anywhere among others.
    private func scattered(
        _ loose: [FrameEvent], among ordered: [FrameEvent], _ generator: inout SeededGenerator
    ) -> [FrameEvent] {
        var frames = ordered
        for frame in loose.shuffled(using: &generator) {
            frames.insert(frame, at: Int.random(in: 0...frames.count, using: &generator))
        }
        return frames
    }

    private func changes(_ difference: TraceDifference) -> [FieldChange] {
        difference.conversations.flatMap(\.rows).flatMap { row -> [FieldChange] in
            if case .changed(_, _, let changes) = row { changes } else { [] }
        }
    }

    @Test(arguments: 0..<60) func onlyTheOrderDoesNotMatter(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let ordered = Traces.conversation(Int.random(in: 0...30, using: &generator), using: &generator)
        let pushes = (0..<Int.random(in: 1...12, using: &generator)).map { push("news \($0 / 2)", id: $0 / 2) }
        let old = scattered(pushes, among: ordered, &generator)
        let same = try compared(old, scattered(pushes, among: ordered, &generator), Self.pushes)
        #expect(same.isEmpty && same.counts.isEmpty, "seed \(seed): \(DiffText.of(same))")

        let fewer = try compared(old, scattered(Array(pushes.dropLast()), among: ordered, &generator), Self.pushes)
        #expect(fewer.counts.map(\.kind) == ["removed"] && fewer.counts.map(\.count) == [1], "seed \(seed)")
        let more = try compared(old, scattered(pushes + [push("old")], among: ordered, &generator), Self.pushes)
        #expect(more.counts.map(\.kind) == ["added"] && more.counts.map(\.count) == [1], "seed \(seed)")

        var wrong = pushes
        wrong[0] = push("olds", id: 0)
        let changed = try compared(old, scattered(wrong, among: ordered, &generator), Self.pushes)
        #expect(
            changes(changed) == [FieldChange(path: "body.text", old: .text("news 0"), new: .text("olds"))],
            "seed \(seed)")
        // The other frames still have their order.
        let swapped = [Traces.frame(.fromServer, "first"), Traces.frame(.fromServer, "second")]
        #expect(
            try !compared(pushes + swapped, pushes + swapped.reversed(), Self.pushes).isEmpty, "seed \(seed)")
    }

    @Test(arguments: 0..<20) func framesThatDifferAreMatchedWithTheirLikes(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        func run(_ first: Int) -> [FrameEvent] {
            scattered((0..<20).map { push("news \($0)", id: first + $0) }, among: [], &generator)
        }
        let difference = try compared(run(0), run(100), Self.pushes)
        #expect(changes(difference).map(\.path) == Array(repeating: "fields.id", count: 20), "seed \(seed)")
    }

    /// More than are assigned exactly, each at most 15 places from its like.
    @Test(arguments: 0..<5) func manyThatDifferAreMatchedWithTheirLikesNearby(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 300...600, using: &generator)
        func run(_ first: Int) -> [FrameEvent] {
            stride(from: 0, to: count, by: 16).flatMap { start in
                (start..<min(count, start + 16)).map { push("news \(1_000 + $0)", id: first + $0) }
                    .shuffled(using: &generator)
            }
        }
        let difference = try compared(run(10_000), run(20_000), Self.pushes)
        #expect(difference.counts.map(\.kind) == ["changed"], "seed \(seed)")
        #expect(changes(difference).map(\.path) == Array(repeating: "fields.id", count: count), "seed \(seed)")
    }

    @Test func manyThatDifferAreMatchedInBoundedSteps() throws {
        func run(_ first: Int, _ count: Int) -> [FrameEvent] {
            (0..<count).map { push("news \($0)", id: first + $0) }
        }
        let difference = try compared(run(0, 2_000).reversed(), run(10_000, 1_990), Self.pushes)
        #expect(difference.counts.map(\.kind) == ["changed", "removed"])
        #expect(difference.counts.map(\.count) == [1_990, 10])
    }

    /// The pause before a frame without an order, and its turn, are chance; those of the others still count.
    @Test(arguments: 0..<30) func pausesAndTurnsOfUnorderedFramesAreNotCompared(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(in: Self.pushes, file: "rules.yaml")
        comparison.tolerance = Comparison.Tolerance(.milliseconds(0), fraction: 0)
        var times: [Int64] = [1]
        for _ in 0..<Int.random(in: 1...20, using: &generator) {
            times.append((times.last ?? 0) + Int64.random(in: 1...50, using: &generator))
        }
        /// - Parameters:
        ///   - late: from which frame with an order all are late.
        ///   - crossing: which frame with an order comes after the next one, which the other side sends.
        func run(late: Int? = nil, crossing: Int? = nil) -> RecordedTrace {
            var ordered = times.enumerated().map { place, time in
                Traces.frame(
                    place.isMultiple(of: 2) ? .fromClient : .fromServer, "txt", "text \(place)",
                    at: time + (place >= late ?? .max ? 1_000 : 0))
            }
            if let crossing { ordered.swapAt(crossing, crossing + 1) }
            let pushes = (0..<8).map { index in
                Traces.frame(
                    .fromServer, "push", "news \(index)", at: Int64.random(in: 1...1_000, using: &generator))
            }
            return Traces.trace([scattered(pushes, among: ordered, &generator)])
        }
        func compared(_ actual: RecordedTrace) -> TraceDifference {
            TraceComparison.compare(expected: run(), actual: actual, comparison)
        }
        comparison.aspects = [.times, .turns]
        let same = compared(run())
        #expect(same.isEmpty, "seed \(seed): \(DiffText.of(same))")
        let late = compared(run(late: Int.random(in: times.indices, using: &generator)))
        #expect(late.counts.map(\.kind) == ["changed"], "seed \(seed)")
        #expect(changes(late).map(\.path) == ["pause"], "seed \(seed): \(DiffText.of(late))")
        comparison.aspects = [.turns]
        let crossed = compared(run(crossing: Int.random(in: 0..<times.count - 1, using: &generator)))
        #expect(crossed.counts.map(\.kind) == ["crossed"], "seed \(seed): \(DiffText.of(crossed))")
        #expect(crossed.counts.map(\.count) == [1], "seed \(seed)")
    }

    /// A concurrent server answers in any order; each answer still has to repeat its request's identifier.
    @Test(arguments: 0..<40) func answersInAnyOrderRepeatTheirRequests(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let count = Int.random(in: 2...9, using: &generator)
        func run(_ first: Int, wrong: Int? = nil) -> [FrameEvent] {
            let requests = (0..<count).map {
                Traces.frame(.fromClient, "get", fields: ["id": .number("\(first + $0)")])
            }
            let answers = (0..<count).map { index in
                Traces.frame(
                    .fromServer, "got", fields: ["id": .number("\(index == wrong ? 7 : first + index)")])
            }
            return requests + answers.shuffled(using: &generator)
        }
        let rules = """
            bind:
              - name: id
                places: [{ from: client, type: get, path: fields.id }, { from: server, type: got, path: fields.id }]
            unordered: [{ type: got }]

            """
        let same = try compared(run(100), run(200), rules)
        #expect(same.isEmpty, "seed \(seed): \(DiffText.of(same))")
        let place = Int.random(in: 0..<count, using: &generator)
        let wrong = try compared(run(100), run(200, wrong: place), rules)
        let expected = FieldChange(
            path: "fields.id", old: .number("\(200 + place)"), new: .number("7"), note: "should repeat id")
        #expect(changes(wrong) == [expected], "seed \(seed): \(DiffText.of(wrong))")
    }

    @Test(arguments: 0..<20) func ignoredFramesAreNotLookedAt(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let ordered = Traces.conversation(20, using: &generator)
        func run() -> [FrameEvent] {
            let loose = (0..<Int.random(in: 0...9, using: &generator)).map { push("news \($0)", id: $0) }
            return scattered(loose, among: ordered, &generator)
        }
        let rules = "ignore: [{ type: push }]\n"
        #expect(try compared(run(), run(), rules).isEmpty, "seed \(seed)")
        #expect(try compared(ordered, run(), rules).isEmpty, "seed \(seed)")
        #expect(try !compared(ordered + [push("news")], ordered, "ignore: [{ from: client }]\n").isEmpty)
    }

    /// Of a value that goes from one connection to another, the frame that does not repeat it is the wrong one.
    @Test(arguments: 0..<30) func aBindingHoldsAcrossConnections(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(
            in: """
                bind:
                  - name: id
                    places:
                      - { from: client, type: say, path: fields.id }
                      - { from: server, type: ack, path: fields.id }
                      - { from: server, type: msg, path: fields.id }
                """, file: "rules.yaml")
        let count = Int.random(in: 1...5, using: &generator)
        func run(_ first: Int, wrong: Int? = nil) -> RecordedTrace {
            func frame(_ from: Direction, _ type: String, _ index: Int, wrong isWrong: Bool = false) -> FrameEvent {
                let id = JSONValue.number("\(isWrong ? 7 : first + index)")
                return Traces.frame(from, type, "text \(index)", fields: ["id": id])
            }
            let receiver = (0..<count).map { frame(.fromServer, "msg", $0, wrong: wrong == $0) }
            let sender = (0..<count).flatMap { index in
                [frame(.fromClient, "say", index), frame(.fromServer, "ack", index, wrong: wrong == count + index)]
            }
            return Traces.trace([receiver, sender].shuffled(using: &generator))
        }
        let old = run(100)
        #expect(TraceComparison.compare(expected: old, actual: run(200), comparison).isEmpty, "seed \(seed)")
        for wrong in 0..<2 * count {
            let difference = TraceComparison.compare(expected: old, actual: run(200, wrong: wrong), comparison)
            let expected = FieldChange(
                path: "fields.id", old: .number("\(200 + wrong % count)"), new: .number("7"), note: "should repeat id")
            #expect(changes(difference) == [expected], "seed \(seed), frame \(wrong)")
            let types = difference.conversations.flatMap { conversation in
                conversation.rows.compactMap { row -> String? in
                    guard case .changed(let place, _, _) = row else { return nil }
                    return conversation.expectedItems[place].frame?.type
                }
            }
            #expect(types == [wrong < count ? "msg" : "ack"], "seed \(seed), frame \(wrong)")
        }
    }

    @Test func theRulesAreReadAsTheyAreWritten() throws {
        let yaml = """
            ignore: [fields.x, { from: client, type: noise }, { type: 'a b' }]
            unordered: [{ from: server }, { from: client, type: push }]
            """
        let rules = try RulesYAML.rules(in: yaml, file: "rules.yaml")
        #expect(rules.ignored.count == 1 && rules.ignoredFrames.count == 2)
        #expect(rules.unordered == [.init(from: .fromServer), .init(from: .fromClient, type: "push")])
        #expect(try RulesYAML.rules(in: RulesYAML.text(of: rules, runs: ["a"]), file: "rules.yaml") == rules)
    }

    @Test(arguments: [
        ("unordered: [{}]\n", "unordered[0] lacks from or type"),
        ("ignore: [{}]\n", "ignore[0] lacks from or type or path"),
        ("unordered: [{ type: a, path: fields.x }]\n", "unknown key path in unordered[0]"),
        ("unordered: [push]\n", "unordered[0] should be a mapping"),
        ("mask: [{ type: a }]\n", "mask[0] lacks path"),
    ])
    func wrongRulesAreReported(yaml: String, message: String) {
        let error = #expect(throws: FormatFileError.self) { try RulesYAML.rules(in: yaml, file: "r.yaml") }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error.map { "\($0)" } ?? "none")")
    }

    /// Learning cannot tell whether an order is chance; it says how to write that it is.
    @Test func anotherOrderIsReportedWhenLearning() {
        let frames = ["a", "b", "c"].map { push($0) }
        let learned = RuleLearning.learn(
            from: [Traces.trace([frames]), Traces.trace([[frames[2], frames[0], frames[1]]])])
        #expect(
            learned.remaining.last
                == "the order of frames; if it does not matter, add to the rules: unordered: [{ from: server, type: push }]"
        )
    }
}
