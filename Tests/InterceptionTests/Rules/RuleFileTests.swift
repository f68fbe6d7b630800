import Framing
import Interception
import Streams
import Testing

/// Rules as text.
@Suite struct RuleFileTests {
    private let format: Format

    init() throws { format = try #require(try BuiltInFormats.format(named: "im-json")) }

    private func rule(_ text: String) throws -> Rule { try RuleFile.rule(text, number: 1, format: format) }

    @Test func aFileOfRules() throws {
        let (rules, seed) = try RuleFile.load(
            """
            seed: 7
            rules:
              - drop: type == "txt" and nth % 10 == 0
                from: client
                name: lossy
              - delay: 200 ms
                jitter: 50 ms
                when: type == "img"
                window: 5 s .. 1 min
                connection: 3
              - rate: 64 KiB/s
              - replace: { fields: { targetID: CinentC }, body: { text: "no" } }
                every: 2
                probability: 25 %
              - inject: { fields: { type: txt }, body: { text: hello } }
                to: server
                after: type == "img"
                once: true
            """, file: "rules.yaml", format: format)
        #expect(seed == 7 && rules.map(\.name) == ["lossy", "delay-2", "rate-3", "replace-4", "inject-5"])
        #expect(rules[0].from == .fromClient && rules[0].selection.when != nil)
        #expect(rules[1].window == .seconds(5) ..< .seconds(60) && rules[1].connection == 3)
        guard case .frame(.delay(.milliseconds(200), .milliseconds(50), false)) = rules[1].action,
            case .link(.rate(65_536)) = rules[2].action, case .frame(.replace(let replacement)) = rules[3].action,
            case .frame(.inject(let injection)) = rules[4].action
        else { return #expect(Bool(false), "\(rules)") }
        #expect(replacement.fields == [Field("targetID", .text("CinentC"))] && !replacement.isRaw)
        #expect(rules[3].selection.every == 2 && rules[3].selection.probability == 0.25)
        #expect(injection.from == .fromClient && rules[4].selection.times == 1 && rules[4].selection.after != nil)
        let framed = Framed(injection.bytes, .fromClient, format)
        #expect(framed.frames.count == 1 && framed.unframed == 0)
    }

    @Test func oneInALine() throws {
        let rule = try rule(#"delay: 1.5 s; when: type == "a;b" and fields.x in {"(", "]"}; name: slow"#)
        #expect(rule.name == "slow" && rule.selection.when != nil)
        guard case .frame(.delay(.milliseconds(1_500), _, _)) = rule.action else { return #expect(Bool(false)) }
    }

    /// Each fault has its place, and says what would be right.
    @Test(arguments: [
        ("drop: tpye == 1", "1:7: drop: there is no value tpye; did you mean type?"),
        ("drop: type ==", "1:14: drop: expected"),
        ("drop: all; form: client", "1:12: unknown key form in the rule; did you mean from?"),
        ("drp: all", "1:1: unknown key drp in the rule; did you mean drop?"),
        ("drop: all; delay: 5 s", "1:1: the rule has several actions (delay, drop); expected one"),
        ("drop: type == \"a\"; when: type == \"b\"", "1:7: the rule has two conditions"),
        ("delay: 5 parsecs", "1:8: the rule.delay is 5 parsecs; expected a length of time"),
        ("drop: all; from: both", "1:18: from is both; expected client or server"),
        ("drop: all; probability: 2", "1:25: probability is 2; expected a number from 0 to 1"),
        ("drop: all; window: 9 s .. 5 s", "1:20: window is 9 s .. 5 s; expected two times"),
        ("truncate: -1", "1:11: the rule.truncate is -1; expected a whole number"),
        ("truncate: 1; end: soon", "1:19: end is soon; expected fin or reset"),
        ("corrupt: tail", "1:10: corrupt is tail; expected anywhere, head, body, checksum, or fields.NAME"),
        ("rate: fast", "1:7: rate is fast; expected bytes a second"),
        ("rate: 1 KiB/s; when: heartbeat", "1:16: unknown key when in the rule"),
        ("inject: hello; to: client", "1:9: inject is hello; expected a frame"),
        ("inject: { fields: { type: txt } }", "1:1: inject does not specify who sends the frame"),
        ("replace: { }", "1:10: replace has neither fields nor body"),
    ])
    func faults(text: String, message: String) throws {
        #expect(throws: FormatFileError.self) { try rule(text) }
        do { _ = try rule(text) } catch let error as FormatFileError {
            #expect(error.faults.contains { $0.description.hasPrefix(message) }, "\(error)")
        }
    }

    /// A file that is no text is not shown.
    @Test func aFileThatIsNoText() {
        let error = #expect(throws: FormatFileError.self) {
            try RuleFile.load("rules:\n\u{0}\u{1}\u{2} secret", file: "f", format: nil)
        }
        #expect(error?.description == "f:2:1: not YAML: control characters are not allowed")
    }

    @Test func aFieldThatTheFormatDoesNotHave() throws {
        let magic = try #require(try BuiltInFormats.format(named: "im-magic"))
        for text in ["corrupt: fields.comand", "replace: { fields: { comand: 1 } }", "drop: fields.comand == 1"] {
            #expect(throws: FormatFileError.self, "\(text)") {
                try RuleFile.rule(text, number: 1, format: magic)
            }
        }
    }
}
