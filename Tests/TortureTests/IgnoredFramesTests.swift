import Framing
import Replay
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

@testable import Torture

/// Frames of the server that the rules ignore.
@Suite struct IgnoredFramesTests {
    private let recording: Recording
    private let builder: FrameBuilder
    private let script: Script
    /// What the recorded server says: `said` and `asked`, in turn.
    private let items: [RecordedItem]

    init() throws {
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        var rules = TraceRules()
        rules.ignoredFrames = [TraceRules.Frames(from: .fromServer, type: "asked")]
        recording = try Conversation.recording(format, Conversation.sized(reversing: true), rules: rules)
        builder = FrameBuilder(format, recording)
        script = try Script(recording, builder, includesHeartbeats: false)
        items = Array(recording.connections[0].items).filter { $0.from == .fromServer }
    }

    private func difference(of answers: [RecordedItem], _ rules: TraceRules) -> AnswerComparison.Difference? {
        var comparison = Comparison()
        comparison.rules = rules
        let judge = Judge(
            script: script, comparison: comparison, expected: [items], patience: .seconds(1), ends: nil, hidden: nil)
        return AnswerComparison.compare([answers], judge)
    }

    /// However many of them there are, the answers are those of the recording.
    @Test func theyAreNoOtherAnswers() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let answers = items.flatMap { item in
                let count = item.frame?.type == "asked" ? Int.random(in: 0...3, using: &generator) : 1
                return Array(repeating: item, count: count)
            }
            let difference = difference(of: answers, recording.rules)
            #expect(difference == nil, "seed \(seed)")
        }
        let more = items + items.filter { $0.frame?.type == "asked" }
        guard case .different(let text) = difference(of: more, TraceRules()) else {
            Issue.record("without the rule, more of them are a difference")
            return
        }
        #expect(text.contains("`asked`"), "\(text)")
    }

    /// One that comes early is not taken for the answer, and one that does not come is not waited for.
    @Test func theyAreNotAwaited() throws {
        #expect(script.awaited == [items.count { $0.frame?.type == "said" }])
        let ignored = try #require(items.first { $0.frame?.type == "asked" })
        let now = Timestamp(nanoseconds: 0)
        var play = Play(script, Variation(), builder, patience: .seconds(2), lingering: .milliseconds(20), closes: nil)
        func write(_ message: Int) -> [Play.Action] { [.write(0, script.messages[message].bytes)] }
        #expect(play.begin(at: now) == [.connect(0)])
        #expect(play.take(.opened(0), at: now) == write(0))
        let waits: [Play.Action] = [.wake(at: now + .seconds(2))]
        #expect(play.take(.read(isProven: true), at: now) == waits)
        #expect(play.take(.heard(0, ignored), at: now) == waits)
        #expect(play.take(.heard(0, items[0]), at: now) == write(1))
        #expect(play.take(.read(isProven: true), at: now) == write(2))
    }
}
