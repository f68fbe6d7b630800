import Framing
import Streams
import TestSupport
import Testing
import Trace
@testable import TraceDiff

/// Rules learned from some runs of a program accept its next run, and no run in which a word differs.
@Suite struct LearningPropertyTests {
    private static let words = [
        "login", "alice", "session", "GET", "deliver", "status", "ready", "guest", "INCRBY", "counter", "the", "room",
        "blue",
        "path/to/file", "user-name", "v1", "sha256", "utf8",
    ]

    /// A value that differs each time.
    private enum Volatile: CaseIterable {
        case uuid, epochSeconds, epochMillis, float, iso, http, clock, counter, port, digest, base64, base62, job,
            negative, jwt
    }

    private static func text(_ count: Int, of alphabet: String, _ generator: inout SeededGenerator) -> String {
        let characters = Array(alphabet)
        return String((0..<count).map { _ in characters[Int.random(in: 0..<characters.count, using: &generator)] })
    }

    /// Long texts are matched, and learned from, in bounded steps.
    @Test(.timeLimit(.minutes(1))) func longTexts() throws {
        let token = String(repeating: "a1", count: 200_000)
        for source in ["«token 1-1000000»!", "«hex 1-1000000»!"] {
            let template = try #require(TextTemplate(source))
            #expect(template.masking(token + "!")?.masked == 400_000, "\(source)")
            #expect(template.masking(token + "?") == nil, "\(source)")
        }
        // No end of this is a token.
        let words = String(repeating: "ba/", count: 8_000)
        let learned = try #require(TemplateLearning.template(of: [words + "1", words + "2"]))
        #expect(learned.source.hasPrefix(words + "«number "))
    }

    /// A template as text is the same template, even if its texts contain what looks like a placeholder.
    @Test func templatesAreReadBackAsTheyAre() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let pieces = ["«", "»", "«»", "««»", "«token 5»", "«uuid»", "uuid", "«number", " at ", "«hex 2-1»"]
        func literal() -> String {
            (0..<Int.random(in: 1...5, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
        }
        for _ in 0..<500 {
            let (before, later) = (literal(), literal())
            let template = TextTemplate(parts: [
                .literal(Array(before.utf8)), .any(Placeholder(.uuid, 1, 4_096)), .literal(Array(later.utf8)),
            ])
            #expect(TextTemplate(template.source) == template, "seed \(seed): \(template.source)")
            let text = before + Self.value(.uuid, &generator) + later
            #expect(TextTemplate(template.source)?.masking(text)?.masked == 36, "seed \(seed): \(template.source)")
        }
        #expect(TextTemplate("««»uuid»") == nil)
        #expect(TextTemplate("it's « «uuid»")?.source == "it's « «uuid»")
    }

    private static let small = "abcdefghijklmnopqrstuvwxyz"
    private static let hex = "0123456789abcdef"

    private static func value(_ kind: Volatile, _ generator: inout SeededGenerator) -> String {
        func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
        func two(_ range: ClosedRange<Int>) -> String { String(number(range) + 100).suffix(2).description }
        let clock = "\(two(10...23)):\(two(0...59)):\(two(0...59))"
        let all = small + small.uppercased() + "0123456789"
        switch kind {
        case .uuid:
            return [8, 4, 4, 4, 12].map { text($0, of: hex, &generator) }.joined(separator: "-")
        case .epochSeconds: return String(1_795_000_000 + number(0...999_999))
        case .epochMillis: return String(1_795_000_000_000 + number(0...999_999_999))
        case .float: return "\(number(1...90_000)).\(number(100...999_999))"
        case .iso: return "2026-11-\(two(10...28))T\(clock).\(number(100...999))Z"
        case .http: return "Sat, \(two(10...28)) Nov 2026 \(clock) GMT"
        case .clock: return clock
        case .counter: return String(number(1...99))
        case .port: return String(number(32_768...60_999))
        case .digest: return text(40, of: hex, &generator)
        case .base64: return text(42, of: all + "+/", &generator) + "=="
        case .base62: return text(16, of: all, &generator)
        case .job: return "job\(number(10...9_999))"
        case .negative: return String(number(-500...500))
        case .jwt:
            return
                "eyJhbGciOiJIUzI1NiJ9.\(text(60, of: all + "-_", &generator)).\(text(43, of: all + "-_", &generator))"
        }
    }

    /// Frames of words and volatile parts: the plan is the same in each run.
    private struct Script {
        var frames: [(from: Direction, type: String, parts: [(word: String?, volatile: Volatile?)])] = []

        init(_ generator: inout SeededGenerator) {
            for _ in 0..<Int.random(in: 3...20, using: &generator) {
                let parts = (0..<Int.random(in: 1...5, using: &generator)).map {
                    _ -> (word: String?, volatile: Volatile?) in
                    Int.random(in: 0..<3, using: &generator) == 0
                        ? (nil, Volatile.allCases.randomElement(using: &generator))
                        : (words.randomElement(using: &generator), nil)
                }
                frames.append(
                    (
                        Bool.random(using: &generator) ? .fromClient : .fromServer,
                        ["bulk", "txt"].randomElement(using: &generator) ?? "txt", parts
                    ))
            }
        }

        /// - Parameter changed: the index of the word that differs, counted over all frames.
        func run(_ generator: inout SeededGenerator, changing changed: Int? = nil) -> RecordedTrace {
            var count = 0
            return Traces.trace([
                frames.map { frame in
                    let texts = frame.parts.map { part -> String in
                        if let kind = part.volatile { return value(kind, &generator) }
                        defer { count += 1 }
                        return count == changed ? "mallory" : part.word ?? ""
                    }
                    let text = texts.joined(separator: frame.parts.count % 2 == 0 ? "\", \"" : " ")
                    return Traces.frame(
                        frame.from, frame.type, text, fields: ["length": .number(String(text.utf8.count))])
                }
            ])
        }

        var wordCount: Int { frames.reduce(0) { $0 + $1.parts.count { $0.word != nil } } }
    }

    @Test(arguments: 0..<60) func theNextRunIsTheSameAndAnotherWordIsNot(seed: Int) throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        let script = Script(&generator)
        let runs = (0..<Int.random(in: 3...5, using: &generator)).map { _ in script.run(&generator) }
        let learned = RuleLearning.learn(from: runs)
        #expect(learned.remaining == [], "seed \(seed)")
        var comparison = Comparison()
        comparison.rules = try RulesYAML.rules(
            in: RulesYAML.text(of: learned.rules, runs: ["a"]), file: "rules.yaml")
        #expect(comparison.rules == learned.rules, "rules are read as they are written, seed \(seed)")
        for _ in 0..<5 {
            let next = TraceComparison.compare(expected: runs[0], actual: script.run(&generator), comparison)
            #expect(
                next.isEmpty,
                "seed \(seed): \(DiffText.of(next)) \(learned.rules.masks.map { $0.template?.source ?? "" })")
        }
        for place in 0..<script.wordCount {
            let other = script.run(&generator, changing: place)
            #expect(
                !TraceComparison.compare(expected: runs[0], actual: other, comparison).isEmpty,
                "seed \(seed), word \(place): \(learned.rules.masks.map { $0.template?.source ?? "" })")
        }
    }

    /// Clients that each have a number of their own, and open in another order each time; every frame has a new identifier.
    private static func clients(
        _ generator: inout SeededGenerator, numbers: [Int], frames: Int, changing changed: Int? = nil
    ) -> RecordedTrace {
        Traces.trace(
            numbers.shuffled(using: &generator).map { number in
                (0..<frames).map { place in
                    let user = number == changed && place == frames - 1 ? 100 - number : number
                    return Traces.frame(
                        place % 2 == 0 ? .fromClient : .fromServer, "txt", "",
                        fields: [
                            "id": .text(text(12, of: hex, &generator)), "place": .number("\(place)"),
                            "total": .number("\(user * (place + 1))"), "user": .number("\(user)"),
                        ])
                }
            })
    }

    /// What is the same in each run of a client is not learned, whichever client connects first.
    @Test(arguments: 0..<40) func clientsInAnotherOrderAreStillTheSame(seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let numbers = Array((1...40).shuffled(using: &generator).prefix(Int.random(in: 2...12, using: &generator)))
        let frames = Int.random(in: 2...6, using: &generator)
        let runs = (0..<3).map { _ in Self.clients(&generator, numbers: numbers, frames: frames) }
        let learned = RuleLearning.learn(from: runs)
        #expect(Set(learned.rules.masks.map(\.place.path.description)) == ["fields.id"], "seed \(seed)")
        #expect(learned.remaining == [], "seed \(seed)")
        var comparison = Comparison()
        comparison.rules = learned.rules
        let next = Self.clients(&generator, numbers: numbers, frames: frames)
        #expect(TraceComparison.compare(expected: runs[0], actual: next, comparison).isEmpty, "seed \(seed)")
        let wrong = Self.clients(&generator, numbers: numbers, frames: frames, changing: numbers[0])
        for rules in [learned.rules, TraceRules()] {
            comparison.rules = rules
            let difference = TraceComparison.compare(expected: runs[0], actual: wrong, comparison)
            // Nobody is taken for another client.
            let users = difference.conversations.flatMap { conversation in
                conversation.rows.flatMap { row -> [FieldChange] in
                    if case .changed(_, _, let changes) = row { changes } else { [] }
                }
            }.filter { $0.path == "fields.user" }
            #expect(users.map(\.old) == [.number("\(numbers[0])")], "seed \(seed)")
        }
    }

    @Test func ordinaryWordsAreNotLearnedButReported() {
        func run(_ user: String) -> RecordedTrace {
            Traces.trace([[Traces.frame(.fromClient, "txt", "user \(user) came")]])
        }
        let learned = RuleLearning.learn(from: [run("bob"), run("alice"), run("carol")])
        #expect(learned.rules == TraceRules())
        #expect(learned.remaining.count == 2)
        #expect(learned.remaining.first?.contains("body.text") == true)
        #expect(learned.share.masked == 0 && learned.share.share == 0)
    }

    @Test func bytesAreMaskedWhereTheyDiffer() {
        func run(_ hex: String) -> RecordedTrace {
            var frame = Traces.frame(.fromClient, "bin")
            frame.body = .object([.init("length", .number("16")), .init("hex", .text(hex))])
            return Traces.trace([[frame]])
        }
        let runs = ["00112233665544a100112233aabbccdd", "00112233665544b200112233aabbccdd"].map(run)
        var comparison = Comparison()
        comparison.rules = RuleLearning.rules(from: runs)
        #expect(
            TraceComparison.compare(expected: runs[0], actual: run("00112233665599c300112233aabbccdd"), comparison)
                .isEmpty)
        #expect(
            !TraceComparison.compare(expected: runs[0], actual: run("00112234665599c300112233aabbccdd"), comparison)
                .isEmpty)
    }

    @Test func challengesAreNamed() {
        let frames = [
            Traces.frame(.fromClient, "auth", "SCRAM-SHA-256 n,,n=bob,r=rOprNGfwEbeRWgbNEkqO"),
            Traces.frame(
                .fromServer, "auth", "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"),
            Traces.frame(
                .fromClient, "auth",
                "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="),
            Traces.frame(.fromServer, "txt", "nothing=\"of that kind\""),
        ]
        let lines = Challenges.lines(in: Traces.trace([frames]))
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix("connection 1, frame 0 of the server (auth) has a SCRAM challenge (RFC 5802)"))
    }
}
