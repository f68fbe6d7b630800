import Framing
import Replay
import Streams
import TestSupport
import Testing
import Trace

@testable import Torture

/// A play without sockets.
@Suite struct PlayTests {
    /// When a message is answered.
    private enum Answer: CaseIterable { case atOnce, afterTheEnd, never }

    /// Plays a first run.
    private func outcome(_ play: Play, _ items: [RecordedItem], _ answers: [Answer]) -> Outcome {
        var play = play
        var now = Timestamp(nanoseconds: 0)
        var (written, wake) = (0, Timestamp?.none)
        var actions = play.begin(at: now)
        while true {
            guard !actions.isEmpty else {
                guard let time = wake else { return play.outcome }
                (now, wake) = (max(now, time), nil)
                actions = play.take(.wake, at: now)
                continue
            }
            switch actions.removeFirst() {
            case .connect(let place): actions += play.take(.opened(place), at: now)
            case .write(let place, _):
                let message = written
                written += 1
                actions += play.take(.read(isProven: true), at: now)
                if answers[message] == .atOnce { actions += play.take(.heard(place, items[message]), at: now) }
            case .finish(let place):
                for (item, answer) in zip(items, answers) where answer == .afterTheEnd {
                    actions += play.take(.heard(place, item), at: now)
                }
                actions += play.take(.ended(place, .fin), at: now)
            case .wake(let time): wake = time
            case .done: return play.outcome
            }
        }
    }

    /// An answer counts as missing once, however much is said after it; not if it comes after the client's end.
    @Test func eachMissingAnswerCountsOnce() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let recording = try Conversation.recording(format, Conversation.sized(reversing: true))
        let builder = FrameBuilder(format, recording)
        let script = try Script(recording, builder, includesHeartbeats: false)
        let items = Array(recording.connections[0].items).filter { $0.from == .fromServer }
        for _ in 0..<50 {
            let answers = items.map { _ in Answer.allCases.randomElement(using: &generator) ?? .never }
            let play = Play(
                script, Variation(), builder, patience: .seconds(2), lingering: .milliseconds(20), closes: nil)
            let outcome = outcome(play, items, answers)
            #expect(outcome.unanswered == answers.count { $0 == .never }, "seed \(seed): \(answers)")
            #expect(outcome.failure == nil, "seed \(seed): \(answers)")
        }
    }

    /// The last piece, which a server that hangs no longer reads, is no cut.
    @Test func aCutBeforeTheServerHangsIsProven() throws {
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let recording = try Conversation.recording(format, Conversation.sized(reversing: true))
        let script = try Script(recording, FrameBuilder(format, recording), includesHeartbeats: false)
        for isProven in [true, false] {
            var now = Timestamp(nanoseconds: 0)
            var play = Play(
                script, Variation(cuts: [Variation.Cut(message: 0, offset: 1)]), FrameBuilder(format, recording),
                patience: .seconds(2), lingering: .milliseconds(20), closes: [true])
            _ = play.begin(at: now)
            _ = play.take(.opened(0), at: now)
            _ = play.take(.read(isProven: isProven), at: now)
            #expect(play.take(.read(isProven: false), at: now) == [.wake(at: now + .seconds(2))])
            now = now + .seconds(2)
            #expect(play.take(.wake, at: now) == [.done])
            #expect(play.outcome.failure == .noAnswer(message: 0))
            #expect((play.outcome.cuts, play.outcome.proven) == (1, isProven ? 1 : 0))
        }
    }
}
