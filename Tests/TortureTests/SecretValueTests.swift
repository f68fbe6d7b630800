import Framing
import Replay
import Streams
import Testing
import Trace
import TraceDiff

@testable import Torture

/// Values that the format calls secret: they are compared as they are, and in no report.
@Suite struct SecretValueTests {
    /// A recording that has all values, as one of a capture does, and a server that answers otherwise: when the first body is
    /// cut, or always.
    @Test(arguments: [("sized.py", "body-once", "olleh", 30), ("lines.py", "denies", "DENIED", 0)])
    func noReportShowsThem(_ server: String, _ bug: String, _ value: String, _ failed: Int) async throws {
        let planted = try PlantedServer(server, bug)
        let (text, messages) =
            server == "sized.py"
            ? (Conversation.sizedFormat, Conversation.sized(reversing: true))
            : (Conversation.linesFormat(ends: #"\r\n"#), Conversation.lines(["hello", "bye"], ends: "\r\n"))
        let recording = try Conversation.recording(try FormatLoader.load(text, file: "test.yaml"), messages)
        let format = try FormatLoader.load(text + "\nsecret: [body]", file: "test.yaml")
        var options = TortureOptions(format, Comparison(), seed: 1)
        // Whoever is busy answers late.
        options.patience = .seconds(1)
        let report = try await ServerTorture.run(recording, host: "127.0.0.1", port: planted.port, options)
        withExtendedLifetime(planted) {}
        let shown = TortureText.of(report)
        #expect(report.failed == failed && shown.contains("body.text is another «secret»"), "\(shown)")
        let reports =
            [
                shown, TortureJSON.of(report), TortureJUnit.of(report, name: "it"),
                TortureGitHub.of(report, name: "it"), TortureGitHub.summary(of: report, name: "it"),
            ] + report.issues(of: "it")
        for text in reports { #expect(!text.contains(value), "\(text)") }
    }

    /// Answers beside a recording that hides the bodies of `said`.
    private func difference(of answers: [(from: Direction, bytes: [UInt8])]) throws -> AnswerComparison.Difference? {
        let plain = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let format = try FormatLoader.load(
            Conversation.sizedFormat + "\nsecret: [{ value: body, when: type == \"said\" }]", file: "test.yaml")
        let recording = try Conversation.recording(format, Conversation.sized(reversing: true))
        let hidden = try #require(recording.connections[0].frames.first { $0.type == "said" })
        #expect(hidden.text == JSONRedaction.mark)
        let script = try Script(recording, FrameBuilder(format, recording), includesHeartbeats: false)
        let items = Array(try Conversation.recording(plain, answers).connections[0].items).filter {
            $0.from == .fromServer
        }
        let judge = Judge(
            script: script, comparison: Comparison(), expected: [items], patience: .seconds(1), ends: nil,
            hidden: HiddenValues(format))
        return AnswerComparison.compare([items], judge)
    }

    /// What the recording hides may be anything, what it has may not.
    @Test func answersAreComparedWithWhatTheRecordingHas() throws {
        let same = try difference(of: Conversation.sized(reversing: true))
        #expect(same == nil)
        guard case .different(let text) = try difference(of: Conversation.sized(reversing: false)) else {
            Issue.record("the bodies of `asked` are others")
            return
        }
        #expect(text == "answer 1 (`asked`) differs: body.text is another «secret»")
    }
}
