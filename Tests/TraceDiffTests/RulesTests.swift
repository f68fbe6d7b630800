import Framing
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

/// Masks, echoes, and how both are learned.
@Suite struct RulesTests {
    /// A run in which the server gives a token that the client repeats, and both say a time.
    private func run(_ token: String, _ time: String, echo: String? = nil, number: Int = 7) -> RecordedTrace {
        var answer = Traces.frame(.fromServer, "welcome")
        answer.body = .object([
            .init("length", .number("9")),
            .init("json", .object([.init("token", .text(token)), .init("uptime", .number("\(number)"))])),
        ])
        return Traces.trace([
            [
                Traces.frame(.fromClient, "login", "ann"), answer,
                Traces.frame(.fromClient, "txt", "at \(time) by phone 3", fields: ["session": .text(echo ?? token)]),
                Traces.frame(.fromServer, "ok"),
                Traces.frame(.fromClient, "txt", "at \(time) by phone 3", fields: ["session": .text(echo ?? token)]),
            ]
        ])
    }

    private func compared(_ old: RecordedTrace, _ new: RecordedTrace, _ rules: TraceRules) -> TraceDifference {
        var comparison = Comparison()
        comparison.rules = rules
        return TraceComparison.compare(expected: old, actual: new, comparison)
    }

    /// What frames say again counts as often as they say it.
    @Test func repeatedFramesCountInTheMaskedShare() throws {
        let frame = Traces.frame(.fromClient, "login", "ben", fields: ["token": .text("12345678")])
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(in: "mask: [fields.token]\n", file: "r.yaml")
        func share(_ count: Int) -> MaskedShare {
            let trace = Traces.trace([[FrameEvent](repeating: frame, count: count)])
            return TraceComparison.compare(expected: trace, actual: trace, comparison).share
        }
        let one = share(1)
        #expect((one.frames, one.maskedFrames, one.masked) == (2, 2, 16) && one.characters > 16)
        let five = share(5)
        #expect((five.frames, five.maskedFrames, five.masked) == (10, 10, 80))
        #expect(five.characters == 5 * one.characters)
    }

    @Test func whatDiffersIsLearned() throws {
        let runs = [run("a1", "08:59:59.100"), run("b2", "09:00:00.200", number: 8), run("c3", "10:00:00.300")]
        let rules = RuleLearning.rules(from: runs)
        #expect(rules.bindings.map(\.name) == ["token"])
        #expect(rules.bindings.first?.places.map(\.path.description) == ["body.json.token", "fields.session"])
        #expect(
            rules.masks.map { "\($0.place.path) \($0.template?.source ?? "")" } == [
                "body.text at «time» by phone 3", "fields.session «token 2-3»", "body.json.token «token 2-3»",
                "body.json.uptime «number 1-3»",
            ])
        #expect(compared(runs[0], run("z9", "23:00:00.0", number: 1), rules).isEmpty)
        // A session that differs from the issued token is reported.
        let other = compared(runs[0], run("z9", "23:00:00.0", echo: "y8"), rules)
        #expect(other.counts.map(\.count) == [2])
        #expect(DiffText.of(other).contains("(should repeat token)"))
        // What is not volatile still counts.
        var changed = run("z9", "23:00:00.0")
        changed.connections[0].items[0] = .frame(Traces.frame(.fromClient, "login", "ben"))
        #expect(compared(runs[0], changed, rules).counts.map(\.kind) == ["changed"])
    }

    /// A boolean that differs says something, as a word does: it is reported, and not masked.
    @Test func booleansAreNotMasked() {
        func run(_ isOK: Bool, _ id: String) -> RecordedTrace {
            var frame = Traces.frame(.fromServer, "done")
            frame.body = .object([
                .init("length", .number("9")),
                .init("json", .object([.init("ok", .boolean(isOK)), .init("id", .number(id))])),
            ])
            return Traces.trace([[frame]])
        }
        let result = RuleLearning.learn(from: [run(true, "3001"), run(false, "3002")])
        #expect(result.rules.masks.map(\.place.path.description) == ["body.json.id"])
        #expect(result.remaining.contains { $0.contains("body.json.ok is true or false") })
        #expect(compared(run(true, "3001"), run(true, "3009"), result.rules).isEmpty)
        #expect(!compared(run(true, "3001"), run(false, "3001"), result.rules).isEmpty)
    }

    @Test func runsThatAreTheSameGiveNoRules() {
        let rules = RuleLearning.rules(from: [run("a", "1"), run("a", "1")])
        #expect(rules == TraceRules())
    }

    @Test func rulesAreReadAsTheyAreWritten() throws {
        let rules = RuleLearning.rules(from: [run("a1", "08:59"), run("b2", "09:01", number: 8)])
        let text = RulesYAML.text(of: rules, runs: ["a", "b"])
        #expect(try RulesYAML.rules(in: text, file: "rules.yaml") == rules)
        let none = RulesYAML.text(of: TraceRules(), runs: ["a", "b"])
        #expect(try RulesYAML.rules(in: none, file: "rules.yaml") == TraceRules())
        let short = try RulesYAML.rules(in: "mask: [fields.token]\nignore: ['body.json.items[*].id']\n", file: "r.yaml")
        #expect(short.masks.map(\.place.path.description) == ["fields.token"])
        #expect(short.ignored.map(\.path.description) == ["body.json.items.*.id"])
    }

    @Test func wrongRulesAreReportedWithTheirPlace() {
        func fault(_ yaml: String) -> String {
            do throws(FormatFileError) {
                _ = try RulesYAML.rules(in: yaml, file: "r.yaml")
                return "none"
            } catch { return "\(error)" }
        }
        #expect(fault("masks: []\n") == "r.yaml:1:1: unknown key masks in the rules; did you mean mask?")
        #expect(fault("mask:\n  - 'a..b'\n").hasPrefix("r.yaml:2:5: mask[0] is a..b; expected a path such as"))
        #expect(fault("mask:\n  - { from: me, path: type }\n").contains("mask[0].from is me; known are client, server"))
        #expect(fault("bind:\n  - { name: x, places: [fields.a] }\n").contains("two places or more, found 1"))
        let twice = ["a, b", "c, d"].map { "  - { name: x, places: [\($0)] }\n" }.joined()
        #expect(fault("bind:\n" + twice) == "r.yaml:3:5: bind[1].name is x, as that of another one is")
    }

    @Test func masksHaveToBeThereAndIgnoredValuesNot() throws {
        let old = Traces.trace([[Traces.frame(.fromClient, "a", fields: ["x": .number("1"), "y": .number("1")])]])
        let other = Traces.trace([[Traces.frame(.fromClient, "a", fields: ["x": .number("2"), "y": .number("1")])]])
        let without = Traces.trace([[Traces.frame(.fromClient, "a", fields: ["y": .number("1")])]])
        let path = try #require(FieldPath("fields.x"))
        var mask = TraceRules()
        mask.masks = [TraceRules.Mask(TraceRules.Place(path: path))]
        var ignore = TraceRules()
        ignore.ignored = [TraceRules.Place(path: path)]
        #expect(compared(old, other, mask).isEmpty)
        #expect(!compared(old, without, mask).isEmpty)
        #expect(compared(old, without, ignore).isEmpty)
        mask.masks[0].place.from = .fromServer
        #expect(!compared(old, other, mask).isEmpty)
    }

    /// Something of which everything is ignored is as good as empty, and as none, at any depth.
    @Test func whatIsIgnoredWhollyNeedNotBeThere() throws {
        func trace(_ json: String) throws -> RecordedTrace {
            var frame = Traces.frame(.fromClient, "a")
            frame.body = .object([
                .init("length", .number("9")), .init("json", try JSONValue(parsing: Array(json.utf8).span.bytes)),
            ])
            return Traces.trace([[frame]])
        }
        let cases: [(paths: [String], old: String, new: String, isSame: Bool)] = [
            (["body.json.debug"], #"{"debug":1}"#, "{}", true),
            (["body.json.debug"], #"{"debug":1}"#, "[]", false),
            (["body.json.a.debug"], #"{"a":{"debug":1}}"#, #"{"a":{}}"#, true),
            (["body.json.a.debug"], #"{"a":{"debug":1}}"#, "{}", true),
            (["body.a.debug"], #"{"a":{"debug":1},"b":1}"#, #"{"b":1}"#, true),
            (["body.json.a.b.debug"], #"{"a":{"b":{"debug":1}},"c":1}"#, #"{"c":1}"#, true),
            (["body.json.a.x", "body.json.a.y"], #"{"a":{"x":1,"y":2}}"#, "{}", true),
            (["body.json.a.x"], #"{"a":{"x":1,"y":2}}"#, "{}", false),
            // Empty on one side: the same as an absent one where something inside it is ignored, and only there.
            (["body.json.a.debug"], #"{"a":{}}"#, "{}", true),
            (["body.json.b.debug"], #"{"a":{}}"#, "{}", false),
            (["body.json.a[0]"], #"{"a":{}}"#, "{}", false),
            (["body.json.a.debug"], #"{"a":[]}"#, "{}", false),
            (["body.json.a.debug"], #"{"a":{}}"#, #"{"a":{}}"#, true),
            (["body.json.b.debug"], #"{"a":{}}"#, #"{"a":{}}"#, true),
            // The object itself.
            (["body.json.a"], #"{"a":{"debug":1}}"#, "{}", true),
            (["body.json.a"], #"{"a":{}}"#, "{}", true),
            (["body.json.a"], #"{"a":5}"#, #"{"a":{}}"#, true),
            // Elements count.
            (["body.json.a[*]"], #"{"a":[1,2]}"#, #"{"a":[]}"#, true),
            (["body.json.a[*]"], #"{"a":[1,2]}"#, "{}", true),
            (["body.json.a[*].debug"], #"{"a":[{"debug":1}]}"#, #"{"a":[{}]}"#, true),
            (["body.json.a[*].debug"], #"{"a":[{"debug":1}]}"#, #"{"a":[]}"#, false),
            (["body.json.a[*].debug"], #"{"a":[{"x":1},{"debug":1}]}"#, #"{"a":[{"x":1}]}"#, false),
        ]
        for (paths, old, new, isSame) in cases {
            var rules = TraceRules()
            for path in paths { rules.ignored.append(TraceRules.Place(path: try #require(FieldPath(path)))) }
            for (left, right) in [(old, new), (new, old)] {
                let difference = compared(try trace(left), try trace(right), rules)
                #expect(difference.isEmpty == isSame, "\(paths): \(left) and \(right)")
            }
        }
        // Rules of other frames say nothing about these.
        var others = TraceRules()
        others.ignored = [TraceRules.Place(type: "b", path: try #require(FieldPath("body.json.a.debug")))]
        #expect(!compared(try trace(#"{"a":{}}"#), try trace("{}"), others).isEmpty)
        // Fields that are not there are none.
        let with = Traces.trace([[Traces.frame(.fromClient, "a", fields: ["x": .number("1")])]])
        let without = Traces.trace([[Traces.frame(.fromClient, "a")]])
        var rules = TraceRules()
        rules.ignored = [TraceRules.Place(path: try #require(FieldPath("fields.x")))]
        #expect(compared(with, without, rules).isEmpty)
    }

    /// The smallest number is no length.
    @Test func aNumberThatIsFarOffIsNoLength() throws {
        let runs = [7, 8].map { number in
            var run = run("a1", "08:59", number: number)
            guard case .frame(var frame) = run.connections[0].items[1] else { return run }
            frame.fields = .object([.init("big", .number("\(Int.min)"))])
            run.connections[0].items[1] = .frame(frame)
            return run
        }
        let rules = RuleLearning.rules(from: runs)
        #expect(rules.masks.contains { $0.place.path.description == "body.json.uptime" }, "\(rules.masks)")
        #expect(!rules.masks.contains { $0.place.path.description == "fields.big" }, "\(rules.masks)")
    }

    @Test(arguments: ["fields.token", "body.json.items[0].id", "body.json[\"a.b\"]", "type", "body.json.*.x"])
    func pathsAreWrittenAsTheyAreRead(text: String) throws {
        #expect(try #require(FieldPath(text)).description == text)
    }

    @Test(arguments: ["", ".", "a.", "a..b", "a[", "a[x]", "a[-1]"]) func whatIsNoPath(text: String) {
        #expect(FieldPath(text) == nil)
    }

    @Test func allMasksOverAPathApply() throws {
        func trace(_ text: String) -> RecordedTrace { Traces.trace([[Traces.frame(.fromClient, "a", text)]]) }
        let rules = try RulesYAML.rules(
            in: """
                mask:
                  - { path: body.text, pattern: 'id=\\d+' }
                  - { path: body.text, pattern: 'at=[0-9:]+' }
                  - { path: body.text, like: 'user «token 4» is «number»' }
                """, file: "r.yaml")
        #expect(compared(trace("id=1 at=10:20 x"), trace("at=11:20 x id=2"), rules).isEmpty == false)
        #expect(compared(trace("id=1 at=10:20 x"), trace("id=2 at=11:21 x"), rules).isEmpty)
        #expect(!compared(trace("id=1 at=10:20 x"), trace("id=2 at=11:21 y"), rules).isEmpty)
        #expect(compared(trace("user a1b2 is 5"), trace("user z9x8 is 17"), rules).isEmpty)
        #expect(!compared(trace("user a1b2 is 5"), trace("user mary is 17"), rules).isEmpty, "an ordinary word")
    }

    /// A pattern sees what is before the place where it might match.
    @Test(arguments: [
        ("^id=\\d+", "id=1 x", "id=2 x", true), ("^id=\\d+", "x id=1", "x id=2", false),
        (#"\b[0-9a-f]{8}\b"#, "at 12345678", "at 12345679", true),
        (#"\b[0-9a-f]{8}\b"#, "zz12345678", "zz12345679", false),
        (#"\B\d"#, "a1", "a2", true), (#"\B\d"#, "é 1", "é 2", false), (#"\d$"#, "é1", "é2", true),
    ])
    func masksAreAnchored(pattern: String, old: String, new: String, isSame: Bool) throws {
        func trace(_ text: String) -> RecordedTrace { Traces.trace([[Traces.frame(.fromClient, "a", text)]]) }
        let rules = try RulesYAML.rules(in: "mask: [{ path: body.text, pattern: '\(pattern)' }]", file: "r.yaml")
        #expect(compared(trace(old), trace(new), rules).isEmpty == isSame)
    }

    /// Texts that Unicode calls equivalent are different bytes for a receiver.
    @Test func equivalentTextsDiffer() {
        func trace(_ text: String) -> RecordedTrace { Traces.trace([[Traces.frame(.fromClient, "a", text)]]) }
        #expect(!compared(trace("caf\u{e9}"), trace("cafe\u{301}"), TraceRules()).isEmpty)
        #expect(compared(trace("caf\u{e9}"), trace("caf\u{e9}"), TraceRules()).isEmpty)
        func named(_ names: [String]) -> RecordedTrace {
            var frame = Traces.frame(.fromClient, "a")
            frame.fields = .object(names.map { .init($0, .number("1")) })
            return Traces.trace([[frame]])
        }
        #expect(!compared(named(["caf\u{e9}"]), named(["cafe\u{301}"]), TraceRules()).isEmpty)
        let both = ["caf\u{e9}", "cafe\u{301}"]
        #expect(!compared(named(both), named([both[0]]), TraceRules()).isEmpty)
        let many = (0..<9).map { "n\($0)" }
        #expect(!compared(named(many + both), named(many + [both[1]]), TraceRules()).isEmpty)
    }

    /// JSON with other spacing is the same, and so is the field that states its length; other fields are not, nor is another body.
    @Test(arguments: [1, -1, 7]) func lengthsOfEqualBodiesAreNotCompared(growth: Int) {
        func trace(_ stated: Int, _ body: Int, count: Int = 5, form: String = "json", value: String = "x")
            -> RecordedTrace
        {
            var frame = Traces.frame(
                .fromClient, "put", fields: ["length": .number("\(stated)"), "count": .number("\(count)")])
            frame.length = body + 8
            frame.body = .object([
                .init("length", .number("\(body)")), .init(form, .object([.init("key", .text(value))])),
            ])
            return Traces.trace([[frame, Traces.frame(.fromServer, "ok")]])
        }
        func paths(_ old: RecordedTrace, _ new: RecordedTrace) -> [String] {
            compared(old, new, TraceRules()).conversations.flatMap(\.rows).flatMap { row -> [String] in
                if case .changed(_, _, let changes) = row { changes.map(\.path) } else { [] }
            }
        }
        let old = trace(14, 14)
        #expect(compared(old, trace(14 + growth, 14 + growth), TraceRules()).isEmpty)
        #expect(paths(old, trace(14 + growth, 14)) == ["fields.length"], "no body is longer")
        #expect(paths(old, trace(14 - growth, 14 + growth)) == ["fields.length"], "it states something else")
        #expect(paths(old, trace(14 + growth, 14 + growth, count: 9)) == ["fields.count"])
        #expect(
            Set(paths(old, trace(14 + growth, 14 + growth, value: "y"))) == ["fields.length", "body.json.key"])
    }

    /// A body of which only one trace has all differs, and it is said why.
    @Test func aCutBodyIsNamed() {
        func trace(_ kept: Int, value: String = "x") -> RecordedTrace {
            var frame = Traces.frame(.fromClient, "put")
            let text = JSONValue.text(String(repeating: value, count: kept))
            frame.body = .object(
                [.init("length", .number("50")), .init("text", text)]
                    + (kept < 50 ? [.init("truncated", .boolean(true))] : []))
            return Traces.trace([[frame]])
        }
        let full = compared(trace(50), trace(40), TraceRules())
        #expect(DiffText.of(full).contains("body.truncated  nothing → true"))
        let other = compared(trace(40), trace(50), TraceRules())
        #expect(DiffText.of(other).contains("body.truncated  true → nothing"))
        for (old, new) in [(trace(50), trace(50, value: "y")), (trace(40), trace(40, value: "y"))] {
            #expect(!DiffText.of(compared(old, new, TraceRules())).contains("truncated"))
        }
        #expect(compared(trace(40), trace(40), TraceRules()).isEmpty)
    }

    @Test func finOrResetIsChanceUnlessAskedFor() {
        let old = Traces.trace([[Traces.frame(.fromClient, "a")]])
        var new = old
        new.connections[0].closing?.reason = "reset"
        let difference = compared(old, new, TraceRules())
        #expect(difference.isEmpty)
        #expect(DiffText.of(difference).contains("1 connection reset instead of FIN"))
        var comparison = Comparison()
        comparison.aspects = [.endings]
        #expect(!TraceComparison.compare(expected: old, actual: new, comparison).isEmpty)
        new.connections[0].closing?.reason = "timeout"
        #expect(!compared(old, new, TraceRules()).isEmpty, "that is another end")
    }

    /// A recording may stop before the connection's end has come, on either side.
    @Test func anEndThatWasNotRecordedIsUnknownUnlessAskedFor() {
        let whole = Traces.trace([[Traces.frame(.fromClient, "a"), Traces.frame(.fromServer, "b")]])
        for reason in ["fin", "reset", "timeout"] {
            var (old, new) = (whole, whole)
            old.connections[0].closing?.reason = reason
            new.connections[0].closing?.reason = "end-of-input"
            new.connections[0].closing?.by = nil
            for (left, right) in [(old, new), (new, old)] {
                let difference = compared(left, right, TraceRules())
                #expect(difference.isEmpty, "\(reason)")
                #expect(DiffText.of(difference).contains("1 connection still open at the end of one recording"))
                var comparison = Comparison()
                comparison.aspects = [.endings]
                let other = TraceComparison.compare(expected: left, actual: right, comparison)
                #expect(other.conversations[0].changes.map(\.path) == ["closed.reason", "closed.by"])
            }
            #expect(!DiffText.of(compared(new, new, TraceRules())).contains("still open"))
        }
        // Frames that are missing are still a difference.
        var cut = whole
        cut.connections[0].items = RecordedItems(whole.connections[0].items.prefix(1))
        cut.connections[0].closing?.reason = "end-of-input"
        cut.connections[0].closing?.by = nil
        #expect(compared(whole, cut, TraceRules()).counts.map(\.kind) == ["removed"])
    }

    @Test func pausesAreComparedOnRequest() {
        func trace(_ times: [Int64]) -> RecordedTrace {
            Traces.trace([times.map { Traces.frame(.fromClient, "a", at: $0) }])
        }
        var times = Comparison()
        times.aspects = [.times]
        func counts(_ other: [Int64]) -> [Int] {
            TraceComparison.compare(expected: trace([100, 1_100, 1_200]), actual: trace(other), times).counts.map(
                \.count)
        }
        #expect(counts([100, 1_100, 1_200]) == [])
        #expect(counts([149, 1_340, 1_391]) == [])
        #expect(counts([100, 1_500, 1_600]) == [1])
    }
}
