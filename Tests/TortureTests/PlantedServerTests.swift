import Framing
import Replay
import Streams
import Testing
import TraceDiff

@testable import Torture

/// Small servers whose receive loops have one error each: torture must find it, at the right place, and nothing in those without.
@Suite struct PlantedServerTests {
    /// A server with an error, and what the first thing is that breaks.
    struct Planted: Sendable, CustomTestStringConvertible {
        var server: String
        var bug: String
        var segmentation: String
        var index: Int
        var field: String
        var offset: Int
        var symptom: String
        /// How many segmentations fail.
        var failed: Int

        init(
            _ server: String, _ bug: String, _ segmentation: String, _ index: Int, _ field: String, _ offset: Int,
            _ symptom: String, failed: Int
        ) {
            (self.server, self.bug, self.segmentation) = (server, bug, segmentation)
            (self.index, self.field, self.offset) = (index, field, offset)
            (self.symptom, self.failed) = (symptom, failed)
        }

        var testDescription: String { "\(server) \(bug)" }
    }

    private func torture(
        _ server: String, _ bug: String, parallel: Int = 16, frames: Int = .max
    ) async throws -> TortureReport {
        let planted = try PlantedServer(server, bug)
        let (text, messages) =
            switch server {
            case "sized.py": (Conversation.sizedFormat, Conversation.sized(reversing: true))
            case "sized.c": (Conversation.sizedFormat, Conversation.sized(reversing: false))
            case "heads.py": (Conversation.headsFormat, Conversation.heads())
            case "lines.py":
                (
                    Conversation.linesFormat(ends: #"\r\n"#),
                    Conversation.lines(["hello", "a longer line, 見よ", "bye"], ends: "\r\n")
                )
            default:
                (
                    Conversation.linesFormat(ends: #"\n"#),
                    Conversation.lines(["hello", "a line with more than thirty-two bytes", "bye"], ends: "\n")
                )
            }
        let format = try FormatLoader.load(text, file: "test.yaml")
        var options = TortureOptions(format, Comparison(), seed: 1)
        options.parallel = parallel
        // Whoever is busy answers late.
        options.patience = .seconds(1)
        let report = try await ServerTorture.run(
            Conversation.recording(format, Array(messages.prefix(frames < .max ? 2 * frames : .max))),
            host: "127.0.0.1", port: planted.port, options)
        // Nothing can be said of cuts that the server has not seen.
        #if os(Linux)
        #expect(report.proven == report.cuts, "\(TortureText.of(report))")
        #endif
        withExtendedLifetime(planted) {}
        return report
    }

    @Test(arguments: ["sized.py", "sized.c", "heads.py", "lines.py", "lines.swift"])
    func nothingBreaksAServerThatIsRight(_ server: String) async throws {
        let report = try await torture(server, "none")
        #expect(report.isClean && report.isComplete, "\(TortureText.of(report))")
    }

    @Test(arguments: [
        Planted("sized.py", "read-is-frame", "two-part cut", 0, "size", 1, "the server closes", failed: 48),
        Planted("sized.py", "head-once", "two-part cut", 0, "size", 1, "the server closes", failed: 10),
        Planted("sized.py", "body-once", "two-part cut", 0, "body", 4, "answer 0 (`said`) differs", failed: 30),
        Planted("lines.py", "delimiter", "two-part cut", 0, "delimiter", 6, "no answer", failed: 3),
        Planted("lines.py", "character", "two-part cut", 1, "body", 16, "answer 1 differs", failed: 4),
        Planted("lines.py", "second-lost", "merge", 1, "frame", 0, "no answer", failed: 8),
        Planted("heads.py", "size-digits", "two-part cut", 1, "size", 15, "the server closes", failed: 4),
        Planted("sized.c", "length-split", "two-part cut", 0, "size", 1, "no answer", failed: 5),
        Planted("sized.c", "second-late", "merge", 1, "frame", 0, "no answer", failed: 4),
        Planted("sized.c", "rest-lost", "merge-and-half", 1, "size", 1, "no answer", failed: 22),
        Planted("lines.swift", "second-lost", "merge", 1, "frame", 0, "no answer", failed: 8),
        Planted("lines.swift", "rest-lost", "merge-and-half", 1, "body", 1, "answer 1 differs", failed: 9),
        Planted("lines.swift", "small-buffer", "two-part cut", 1, "body", 17, "answer 1 differs", failed: 22),
    ])
    func anErrorIsFoundAtItsPlace(_ planted: Planted) async throws {
        let report = try await torture(planted.server, planted.bug)
        let text = TortureText.of(report)
        let least = try #require(report.least.first, "\(text)")
        #expect(least.segmentation == planted.segmentation && least.index == planted.index, "\(text)")
        #expect(least.field == planted.field && least.offset == planted.offset, "\(text)")
        #expect(least.symptom.hasPrefix(planted.symptom) && report.failed == planted.failed, "\(text)")
        #expect(report.isComplete, "\(text)")
    }

    /// A connection that is only open would occupy it.
    @Test(arguments: [1, 16]) func aServerThatServesOneConnectionAtATimeIsRight(_ parallel: Int) async throws {
        let report = try await torture("sized.py", "serial", parallel: parallel, frames: 2)
        let text = TortureText.of(report)
        #expect(report.isClean && report.isComplete, "\(text)")
        #expect(report.notes.contains { $0.contains("serves one connection at a time") }, "\(report.notes)")
        #expect(TortureJSON.of(report).contains("serves one connection at a time"))
    }

    /// A value that differs in each run may also be one that connections wrongly share.
    @Test func whatIsNotComparedIsSaid() async throws {
        let report = try await torture("sized.py", "counts", frames: 2)
        let text = TortureText.of(report)
        #expect(report.isClean && report.isComplete, "\(text)")
        #expect(report.notCompared.contains("body.text"), "\(report.notCompared)")
        #expect(text.contains("note: not compared, since it differed between baselines: body.text"), "\(text)")
        #expect(TortureJSON.of(report).contains(#""notCompared":["body.text""#))
        let right = try await torture("sized.py", "none", frames: 2)
        #expect(right.notCompared.isEmpty && !TortureText.of(right).contains("not compared"))
    }

    /// What the user has excluded is known, and repeated values are compared with those that were said first.
    @Test func onlyWhatWasLearnedAndIsNotRepeatedIsNotCompared() throws {
        let given = try RulesYAML.rules(in: "mask: [fields.known]\nignore: [body.json.debug]\n", file: "rules.yaml")
        var learned = given
        learned.add(
            try RulesYAML.rules(
                in: """
                    mask: [fields.token, fields.echo, fields.seen, { type: a, path: fields.seen }]
                    bind: [{ name: token, places: [fields.token, fields.echo] }]
                    ignore: [closed.by]
                    """, file: "rules.yaml"))
        var report = TortureReport()
        report.note(learned, beyond: given)
        #expect(report.notCompared == ["closed.by", "fields.seen", "fields.token"])
        report.note(learned, beyond: given, and: (1...20).map { "fields.a\($0)" })
        #expect(report.notCompared.count == 23)
        #expect(report.notes.last?.hasSuffix(", and 13 more") ?? false, "\(report.notes)")
        report = TortureReport()
        report.note(given, beyond: given)
        #expect(report.notes.isEmpty)
    }

    /// Places at which one cut alone fails are left out of other kinds: these have not passed there.
    @Test func whatIsLeftOutIsSaid() async throws {
        let report = try await torture("sized.py", "head-once")
        let text = TortureText.of(report)
        let everyByte = try #require(report.sections.first { $0.name == "every-byte" }, "\(text)")
        #expect(everyByte.leftOut == 10 && everyByte.tried == 1, "\(text)")
        #expect(text.contains(", none fails; 10 places left out, they fail alone"), "\(text)")
        #expect(
            TortureJUnit.of(report, name: "it").contains("<system-out>10 places left out, they fail alone</system-out>")
        )
    }

    @Test func whatIsLeftOutWhollyIsSkipped() {
        var report = TortureReport()
        report.sections = [TortureReport.Section(name: "fields", leftOut: 1)]
        let xml = TortureJUnit.of(report, name: "it")
        #expect(xml.contains(#"<skipped message="1 place left out, it fails alone"/>"#), "\(xml)")
        #expect(xml.contains(#"errors="0" skipped="1""#), "\(xml)")
        #expect(TortureText.of(report).contains("  fields: 0 tried; 1 place left out, it fails alone\n"))
    }

    /// A server that answers everything with an error is always the same, but nothing was tested.
    @Test func aServerThatAnswersNothingAsRecordedIsAnError() async throws {
        let error = await #expect(throws: TortureError.self) { try await torture("sized.py", "only-errors") }
        let text = error?.description ?? ""
        #expect(text.contains("answer 0 is ") && text.contains("in the recording `said`"), "\(text)")
    }

    @Test(arguments: [
        ("sized.py", "only-asked", "answer 0 is `asked`, in the recording `said`"), ("lines.py", "denies", "answer 0 "),
    ])
    func answersThatAreNotThoseOfTheRecordingAreNoted(_ server: String, _ bug: String, _ why: String) async throws {
        let report = try await torture(server, bug)
        #expect(report.isClean && report.isComplete, "\(TortureText.of(report))")
        #expect(report.notes.contains { $0.contains("not all answers are those of the recording") && $0.contains(why) })
        let right = try await torture(server, "none")
        #expect(!right.notes.contains { $0.contains("not all answers") }, "\(right.notes)")
    }

    @Test func framesThatMustNotBePipelinedAreNotJoined() async throws {
        let report = try await torture("sized.py", "one-at-a-time", frames: 2)
        let text = TortureText.of(report)
        #expect(report.isClean && report.isComplete, "\(text)")
        let merge = try #require(report.sections.first { $0.name == "merge" }, "\(text)")
        #expect(merge.tried == 0 && merge.uncounted == 1, "\(text)")
    }

    /// All answers are right.
    @Test func anotherEndIsFoundToo() async throws {
        let report = try await torture("lines.py", "rude-end")
        let text = TortureText.of(report)
        let least = try #require(report.least.first, "\(text)")
        #expect(least.symptom == "the server resets the connection at its end", "\(text)")
        #expect((least.segmentation, least.index, least.offset) == ("two-part cut", 0, 1), "\(text)")
    }

    /// What a server is said to break on, repeated in a task.
    private func confirmed(_ count: Int, interrupted: Bool = false) async throws -> TortureReport {
        let planted = try PlantedServer("sized.py", "none")
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let recording = try Conversation.recording(format, Conversation.sized(reversing: true))
        let port = planted.port
        var options = TortureOptions(format, Comparison(), seed: 1)
        options.patience = .seconds(1)
        let report = try await Task { [options] () async throws -> TortureReport in
            var torture = try await ServerTorture(recording, host: "127.0.0.1", port: port, options)
            let cut = Variation.Cut(message: 0, offset: 1)
            let broken = torture.broken(at: cut, "two-part cut", "no answer")
            for _ in 0..<count { torture.found.append((Variation(cuts: [cut]), broken)) }
            torture.report.sections = [TortureReport.Section(name: "two-part cuts", tried: count, failed: count)]
            if interrupted { withUnsafeCurrentTask { $0?.cancel() } }
            try await torture.confirm()
            return torture.report
        }.value
        withExtendedLifetime(planted) {}
        return report
    }

    /// What a search has found, before it is confirmed.
    private struct Searched: Sendable {
        var report: TortureReport
        var found: [(variation: Variation, broken: TortureReport.Break)]
        var isDead: Bool
    }

    /// A search of a server's first two frames.
    private func searching(
        _ bug: String, patience: Interval = .seconds(1), started: AsyncStream<Interval>.Continuation? = nil,
        _ search: (inout ServerTorture) async throws -> Void
    ) async throws -> Searched {
        let planted = try PlantedServer("sized.py", bug)
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let recording = try Conversation.recording(format, Array(Conversation.sized(reversing: true).prefix(4)))
        var options = TortureOptions(format, Comparison(), seed: 1)
        options.patience = patience
        var torture = try await ServerTorture(recording, host: "127.0.0.1", port: planted.port, options)
        started?.yield(torture.batch.patience)
        do { try await search(&torture) } catch is CancellationError {}
        withExtendedLifetime(planted) {}
        return Searched(report: torture.report, found: torture.found, isDead: torture.isDead)
    }

    /// A run that fails is not reduced with a server that the reduction has killed.
    @Test(.timeLimit(.minutes(1))) func aServerThatDiesIsNotAskedAgain() async throws {
        let torture = try await searching("many-reads") { try await $0.tryManyCuts() }
        let text = TortureText.of(torture.report)
        #expect(torture.isDead && !torture.report.isComplete, "\(text)")
        #expect(torture.report.notes.count { $0.contains("no longer answers") } == 1, "\(text)")
        let found = try #require(torture.found.first, "\(text)")
        #expect(torture.found.count == 1 && torture.report.failed == 1, "\(text)")
        #expect(found.broken.symptom == "the server closes the connection")
        #expect(found.broken.text.contains("not reduced"), "\(found.broken.text)")
        #expect(found.variation.cuts.count == 21)
    }

    /// What had failed by then is known, and counts.
    @Test(.timeLimit(.minutes(1))) func whatAnInterruptedKindHasFoundIsKept() async throws {
        let (patiences, announce) = AsyncStream.makeStream(of: Interval.self)
        let task = Task {
            defer { announce.finish() }
            return try await searching("hangs", patience: .milliseconds(500), started: announce) {
                try await $0.tryCuts(at: \.places)
            }
        }
        var first = patiences.makeAsyncIterator()
        let patience = try #require(await first.next())
        // Each run fails after that time; the first one may begin late.
        try await Task.sleep(for: .nanoseconds(patience.nanoseconds * 6))
        task.cancel()
        let torture = try await task.value
        let text = TortureText.of(torture.report)
        let section = try #require(torture.report.sections.first, "\(text)")
        #expect(section.tried > 0 && section.failed > 0 && section.failed == torture.found.count, "\(text)")
        #expect(torture.found.allSatisfy { $0.broken.text.contains("not reduced") }, "\(text)")
    }

    /// Nothing more is left out if that can no longer be tried.
    @Test func reducingEndsWithTheServer() async throws {
        var trials = 0
        let left = try await least(of: Array(0..<16)) { elements -> Bool? in
            trials += 1
            return trials > 2 ? nil : elements.contains(3)
        }
        #expect(left == Array(0..<4) && trials == 3)
    }

    /// Not all of a kind are repeated, but all of them count.
    @Test func whatDoesNotFailAgainDoesNotCount() async throws {
        let report = try await confirmed(25)
        #expect(report.isClean && report.isComplete && report.notes.count == 1, "\(TortureText.of(report))")
        #expect(report.issues(of: "it").isEmpty)
    }

    @Test func whatWasFoundIsReportedIfRepeatingItIsInterrupted() async throws {
        let report = try await confirmed(25, interrupted: true)
        #expect(report.least.map(\.count) == [25] && !report.isComplete, "\(TortureText.of(report))")
        #expect(report.notes.contains { $0.hasPrefix("interrupted") }, "\(report.notes)")
    }

    /// Whatever is not clean, or not complete, is an issue.
    @Test func failuresWithoutDetailsAreIssues() {
        var report = TortureReport()
        report.sections = [TortureReport.Section(name: "merge", tried: 8, failed: 3)]
        #expect(report.issues(of: "it") == ["it: 3 of 8 segmentations fail"])
        report.sections[0].failed = 0
        #expect(report.issues(of: "it").isEmpty)
        report.isComplete = false
        report.notes = ["it no longer answers"]
        #expect(report.issues(of: "it") == ["it no longer answers"])
    }

    /// Names of fields, such as those of a JSON head, come from the network.
    @Test func whatIsNotPrintableIsNotPrinted() {
        var report = TortureReport()
        report.least = [
            TortureReport.Break(
                connection: 1, from: .fromClient, index: 0, field: "\u{1b}[2J", offset: 1, segmentation: "two-part cut",
                symptom: "no answer", text: "`\u{1b}[2J` of frame 0 is split after its 1st byte")
        ]
        let text = TortureText.of(report)
        #expect(text.contains("of frame 0 is split") && !text.contains("\u{1b}"), "\(text)")
    }

    /// It is no error to close late.
    @Test func aServerThatClosesLateIsRight() async throws {
        let report = try await torture("lines.py", "slow-end")
        #expect(report.isClean && report.isComplete, "\(TortureText.of(report))")
    }

    /// What else is under way when a server dies is not to blame.
    @Test func aServerThatIsStartedAgainIsSearchedToTheEnd() async throws {
        let report = try await torture("sized.py", "crash-restart")
        let text = TortureText.of(report)
        #expect(report.isComplete && report.failed == 10, "\(text)")
        #expect(text.contains("all inside a head"), "\(text)")
    }

    @Test func aServerThatDiesIsBlamedOnTheCutThatKilledIt() async throws {
        let report = try await torture("sized.py", "crash", parallel: 1)
        let text = TortureText.of(report)
        #expect(!report.isComplete && report.failed == 1 && report.least.count == 1, "\(text)")
        let least = try #require(report.least.first, "\(text)")
        #expect((least.index, least.field, least.offset) == (0, "size", 1), "\(text)")
        #expect(least.symptom.contains("and then it answers nobody"), "\(text)")
    }
}
