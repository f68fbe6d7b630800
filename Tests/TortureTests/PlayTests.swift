import Framing
import Replay
import Streams
import TestSupport
import Testing
import Trace
import TraceDiff

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

    /// The client repeats what the server says in this run, not what it said in the recording.
    @Test func aValueOfTheServerIsRepeated() throws {
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let rules = try RulesYAML.rules(
            in: """
                bind:
                  - name: token
                    places:
                      - { from: server, type: said, path: body.text }
                      - { from: client, type: ask, path: body.text }
                """, file: "rules.yaml")
        func frame(_ kind: UInt8, _ text: String) -> [UInt8] { [0, UInt8(text.utf8.count), kind] + Array(text.utf8) }
        func recording(_ token: String) throws -> Recording {
            try Conversation.recording(
                format,
                [
                    (.fromClient, frame(1, "hello")), (.fromServer, frame(17, token)),
                    (.fromClient, frame(2, token)),
                ], rules: rules)
        }
        let recorded = try recording("a")
        let other = try #require(try recording("b").connections.first)
        let given = try #require(Array(other.items).first { $0.from == .fromServer })
        let builder = FrameBuilder(format, recorded)
        let script = try Script(recorded, builder, includesHeartbeats: false)
        let now = Timestamp(nanoseconds: 0)
        var play = Play(
            script, Variation(), builder, patience: .seconds(2), lingering: .milliseconds(20), closes: [true])
        #expect(play.begin(at: now) == [.connect(0)])
        #expect(play.take(.opened(0), at: now) == [.write(0, frame(1, "hello"))])
        #expect(play.take(.read(isProven: true), at: now) == [.wake(at: now + .seconds(2))])
        #expect(play.take(.heard(0, given), at: now) == [.write(0, frame(2, "b"))])
    }

    /// One that closes first in the recording, and in the baseline, has to do so in every run.
    @Test func aServerThatNoLongerClosesFails() throws {
        let format = try FormatLoader.load(Conversation.sizedFormat, file: "test.yaml")
        let messages = Array(Conversation.sized(reversing: true).prefix(2))
        let recording = try Conversation.recording(format, messages, closedBy: .fromServer)
        let builder = FrameBuilder(format, recording)
        let script = try Script(recording, builder, includesHeartbeats: false)
        #expect(script.steps.last == .awaitEnd(connection: 0))
        let answer = try #require(Array(recording.connections[0].items).last)
        let now = Timestamp(nanoseconds: 0)
        let late = now + .seconds(2)
        /// A play in which everything was said, and only the server's end is awaited.
        func waiting(closes: [Bool]?) -> Play {
            var play = Play(
                script, Variation(), builder, patience: .seconds(2), lingering: .milliseconds(20), closes: closes)
            _ = play.begin(at: now)
            _ = play.take(.opened(0), at: now)
            _ = play.take(.read(isProven: true), at: now)
            #expect(play.take(.heard(0, answer), at: now) == [.wake(at: late)])
            return play
        }
        var silent = waiting(closes: [true])
        #expect(silent.take(.wake, at: late) == [.done])
        #expect(silent.outcome.failure == .noAnswer(message: 0))
        var closing = waiting(closes: [true])
        #expect(closing.take(.ended(0, .fin), at: late) == [.done])
        #expect(closing.outcome.failure == nil)
        // Whether it closes at all, the first run shows.
        var first = waiting(closes: nil)
        #expect(first.take(.wake, at: late).first == .finish(0))
        #expect(first.outcome.failure == nil)
    }
}
