import Framing
import Interception
import Streams
import TestSupport
import Testing

/// What rules do to the frames of real conversations, in the nine formats.
@Suite struct FrameStageTests {
    /// Formats without frames of their own boundaries are left out: `marker` and `fixed` have no lengths to recompute.
    private static let names = BuiltInFormats.names

    private func line(_ text: String, _ direction: Direction = .fromClient) -> Conversations.Piece {
        Conversations.Piece(bytes: Array(text.utf8), direction: direction)
    }

    /// Plays lines of text through rules; returns what the server and the client get.
    private func play(_ rules: String..., lines: [Conversations.Piece]) throws -> (Played, String, String) {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let rules = try rules.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }
        let played = try Played(rules, format, lines, pace: .milliseconds(10))
        return (
            played, String(decoding: played.passed.fromClient, as: UTF8.self),
            String(decoding: played.passed.fromServer, as: UTF8.self)
        )
    }

    private var five: [Conversations.Piece] { [line("one\ntwo\nthr"), line("ee\nfour\n"), line("five\n")] }

    @Test(arguments: [
        ("drop: nth % 2 == 0", "one\nthree\nfive\n", 2),
        ("drop: all; nth: 2", "one\nthree\nfour\nfive\n", 1),
        ("drop: all; every: 3", "one\ntwo\nfour\nfive\n", 1),
        ("drop: all; times: 3", "four\nfive\n", 3),
        ("drop: all; once: true", "two\nthree\nfour\nfive\n", 1),
        ("drop: all; after: body.text == \"three\"", "one\ntwo\nthree\n", 2),
        ("drop: all; window: 5 ms ..", "one\ntwo\n", 3),
        ("drop: all; probability: 0", "one\ntwo\nthree\nfour\nfive\n", 0),
        ("drop: all; probability: 100 %", "", 5),
        ("drop: all; from: server", "one\ntwo\nthree\nfour\nfive\n", 0),
        ("drop: all; connection: 2", "one\ntwo\nthree\nfour\nfive\n", 0),
        ("duplicate: body.text == \"two\"; copies: 3", "one\ntwo\ntwo\ntwo\nthree\nfour\nfive\n", 1),
        ("swap: body.text == \"two\"", "one\nthree\ntwo\nfour\nfive\n", 1),
        ("swap: body.text == \"five\"", "one\ntwo\nthree\nfour\nfive\n", 1),
        ("delay: 15 ms; when: body.text == \"one\"; overtaken: true", "two\nthree\nfour\none\nfive\n", 1),
        ("delay: 15 ms; when: body.text == \"one\"", "one\ntwo\nthree\nfour\nfive\n", 1),
        ("truncate: 2; when: body.text == \"three\"", "one\ntwo\nth", 1),
        ("replace: { body: { text: 2 } }; when: body.text == \"two\"", "one\n2\nthree\nfour\nfive\n", 1),
        ("inject: 0x78; to: server; place: before; when: body.text == \"two\"", "one\nxtwo\nthree\nfour\nfive\n", 1),
        (
            "inject: { body: { text: x } }; to: server; when: body.text == \"two\"", "one\ntwo\nx\nthree\nfour\nfive\n",
            1
        ),
    ])
    func oneRule(rule: String, expected: String, reports: Int) throws {
        let (played, passed, _) = try play(rule, lines: five)
        #expect(passed == expected)
        #expect(played.reports.count == reports, "\(played.reports)")
        #expect(played.ends.fromServer == .fin)
        #expect(played.ends.fromClient == (rule.hasPrefix("truncate") ? .reset : .fin))
        // What was reported is the difference.
        let sent = five.reduce(0) { $0 + $1.bytes.count }
        if !rule.hasPrefix("truncate"), !rule.hasPrefix("inject") {
            #expect(played.passed.fromClient.count - sent == played.reports.reduce(0) { $0 + $1.passed - $1.length })
        }
    }

    @Test func heldFramesWait() throws {
        let lines = [
            line("a\n"), line("stop\nb\n"), line("c\nbeat\n"), line("d\n"), line("go\n", .fromServer), line("e\n"),
        ]
        let (untilAnswer, passed, _) = try play(
            "hold: body.text == \"stop\"; until: from == server; pass: body.text == \"beat\"", lines: lines)
        #expect(passed == "a\nbeat\nstop\nb\nc\nd\ne\n")
        #expect(untilAnswer.reports.map(\.detail) == ["", "released"])
        let (timed, all, _) = try play("hold: body.text == \"stop\"; for: 15 ms", lines: lines)
        #expect(all == "a\nstop\nb\nc\nbeat\nd\ne\n")
        // Held from 10 ms to 25 ms.
        #expect(timed.writes.first { $0.bytes.starts(with: Array("stop".utf8)) }?.time == 25)
        let (forgotten, late, _) = try play("hold: body.text == \"stop\"", lines: lines)
        #expect(late == "a\nstop\nb\nc\nbeat\nd\ne\n" && forgotten.ends.fromClient == .fin)
    }

    @Test func framesOfTheOtherSide() throws {
        let (_, server, client) = try play(
            "inject: { body: { text: busy } }; to: client; when: body.text == \"ask\"", "drop: body.text == \"ask\"",
            lines: [line("ask\nmore\n"), line("ok\n", .fromServer)])
        #expect(server == "more\n" && client == "busy\nok\n")
    }

    /// Bytes between and after frames pass, whatever the rules are.
    @Test func whatIsNoFramePasses() throws {
        let format = try FormatLoader.load(
            "format: sized\nheader: [{ magic: { type: u16, equals: 0xbeef } }, { size: u8 }]\n"
                + "framing: { rule: length-field, field: size, counts: body, limit: 64 }", file: "sized")
        let rule = try RuleFile.rule("drop: all", number: 1, format: format)
        let frame: [UInt8] = [0xbe, 0xef, 2, 1, 2]
        let noise = [UInt8](repeating: 0x55, count: 40)
        let played = try Played(
            [rule], format,
            [noise, frame, frame, noise, [0xbe]].map { Conversations.Piece(bytes: $0, direction: .fromClient) })
        #expect(played.passed.fromClient.count >= 2 * noise.count + 1)
        #expect(played.passed.fromClient.suffix(41) == noise + [0xbe])
    }

    /// A frame larger than what may be held passes before it is complete.
    @Test func aLargeFrameIsNotHeld() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        var limits = StageChain.Limits()
        limits.bytes = 100
        let pieces = (0..<30).map { _ in line("0123456789") } + [line("\nshort\n")]
        let rule = try RuleFile.rule("drop: all", number: 1, format: format)
        let played = try Played([rule], format, pieces, limits: limits)
        #expect(played.passed.fromClient.count == 301 && played.reports.count == 1)
        #expect(played.released == 0)
        // In one chunk, too: rules do not depend on the segmentation.
        let whole = try Played(
            [rule], format, [line(String(repeating: "0123456789", count: 30) + "\nshort\n")], limits: limits)
        #expect(whole.passed == played.passed && whole.reports == played.reports)
    }

    /// Each direction, each connection and each rule chooses for itself.
    @Test func choicesAreIndependent() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let text = (0..<64).map { "\($0)\n" }.joined()
        let rules = try [1, 2].map { try RuleFile.rule("delay: 1 ms; probability: 0.5", number: $0, format: format) }
        func chosen(_ connection: Int) throws -> [[Int]] {
            let played = try Played(
                rules, seed: 7, connection: connection, format, [line(text), line(text, .fromServer)])
            return Direction.allCases.flatMap { direction in
                ["delay-1", "delay-2"].map { name in
                    played.reports.filter { $0.direction == direction && $0.rule == name }.compactMap(\.index)
                }
            }
        }
        let all = try chosen(1) + chosen(2)
        #expect(Set(all).count == 8 && all.allSatisfy { (16...48).contains($0.count) }, "\(all)")
    }

    // MARK: Properties

    /// Rules without `corrupt` and `raw` leave both legs well-framed, and the reports add up.
    @Test(arguments: names) func bothLegsStayWellFramed(name: String) throws {
        let (format, pieces) = try Conversations.of(name)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<8 {
            let rules = try [
                "drop: all", "duplicate: all", "swap: all", "delay: 20 ms; jitter: 30 ms; overtaken: true",
                "delay: 5 ms",
            ]
            .shuffled(using: &generator).prefix(.random(in: 1...3, using: &generator)).enumerated().map {
                try RuleFile.rule("\($1); probability: 0.3", number: $0, format: format)
            }
            let played = try Played(rules, seed: generator.next(), format, pieces)
            for direction in Direction.allCases {
                let sent = pieces.filter { $0.direction == direction }.flatMap(\.bytes)
                let before = Framed(sent, direction, format)
                let after = Framed(played.passed[direction], direction, format)
                if format.directions[direction].rule.isWellDelimited {
                    #expect(after.unframed == before.unframed, "\(name), seed \(seed)")
                    let known = Set(before.frames.map(\.bytes))
                    #expect(after.frames.allSatisfy { known.contains($0.bytes) }, "\(name), seed \(seed)")
                }
                // Each report starts from what the rules before it left.
                let reports = played.reports.filter { $0.direction == direction }
                let change = Dictionary(grouping: reports, by: \.index).values.reduce(0) { sum, steps in
                    sum + (steps.last?.passed ?? 0) - (steps.last?.length ?? 0)
                }
                #expect(played.passed[direction].count == sent.count + change, "\(name), seed \(seed)")
            }
        }
    }

    /// The same seed and the same bytes give the same result, however the bytes are cut.
    @Test(arguments: names) func theSameSeedMakesTheSameChoices(name: String) throws {
        let (format, pieces) = try Conversations.of(name)
        guard !format.directions.fromClient.rule.dependsOnCutting, name != "marker" else { return }
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let rules = try [
            "drop: all; probability: 0.2", "corrupt: anywhere; bits: 2; probability: 0.2",
            "duplicate: all; probability: 0.2",
        ]
        .enumerated().map { try RuleFile.rule($1, number: $0, format: format) }
        let whole = try Played(rules, seed: 3, format, pieces)
        #expect(try Played(rules, seed: 4, format, pieces).passed != whole.passed || whole.reports.isEmpty)
        for _ in 0..<5 {
            let cut = pieces.flatMap { piece -> [Conversations.Piece] in
                var (cut, rest) = ([Conversations.Piece](), piece.bytes[...])
                while !rest.isEmpty {
                    let part = rest.prefix(.random(in: 1...max(1, min(rest.count, 50)), using: &generator))
                    cut.append(Conversations.Piece(bytes: Array(part), direction: piece.direction))
                    rest = rest.dropFirst(part.count)
                }
                return cut
            }
            let played = try Played(rules, seed: 3, format, cut)
            #expect(played.passed == whole.passed, "\(name), seed \(seed)")
            for direction in Direction.allCases {
                #expect(
                    played.reports.filter { $0.direction == direction }
                        == whole.reports.filter { $0.direction == direction }, "\(name), seed \(seed)")
            }
        }
    }
}

extension FramingRule {
    /// Whether a frame's extent does not depend on what came before it.
    fileprivate var isWellDelimited: Bool { !dependsOnCutting && Self.name != "marker" && !hasOpening }
}
