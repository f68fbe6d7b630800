import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Frames that rules make wait, and the ends behind them.
@Suite struct WaitingFrameTests {
    private func load(_ texts: [String]) throws -> (rules: [Rule], format: Format) {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        return (try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }, format)
    }

    /// Plays lines of the client, 10 ms between them.
    private func play(_ texts: [String], _ lines: String...) throws -> (played: Played, passed: String) {
        let (rules, format) = try load(texts)
        let pieces = lines.map { Conversations.Piece(bytes: Array($0.utf8), direction: .fromClient) }
        let played = try Played(rules, format, pieces, pace: .milliseconds(10))
        return (played, String(decoding: played.passed.fromClient, as: UTF8.self))
    }

    // MARK: Ends

    @Test func aHoldGoesOnWhenItsDirectionEnds() throws {
        let (held, passed) = try play(["hold: body.text == \"b\"; for: 200 ms"], "a\n", "b\n", "c\n")
        #expect(passed == "a\nb\nc\n" && held.writes.map(\.time) == [0, 210])
        #expect(held.ends.fromClient == .fin && held.released == 0)
        // At most until the limit of all rules, and that is reported.
        let (forgotten, all) = try play(["hold: body.text == \"b\""], "a\n", "b\n", "c\n")
        #expect(all == "a\nb\nc\n" && forgotten.ends.fromClient == .fin && forgotten.released == 4)
        #expect(try #require(forgotten.writes.last).time > 60_000)
        // Nothing waits that could not pass: the end does not either.
        let (dropped, rest) = try play(["drop: all", "hold: all"], "a\n")
        #expect(rest.isEmpty && dropped.ends.fromClient == .fin && dropped.released == 0)
    }

    /// The end comes behind what waits, and when the hold ends.
    @Test(arguments: [Ending.fin, .reset]) func anEndWaitsForAHold(ending: Ending) throws {
        let (rules, format) = try load(["hold: body.text == \"stop\"; until: from == server"])
        var chain = try #require(RuleSet(rules, seed: 1).stages(of: 1, format: format))
        let (stop, go, start) = (Array("stop\n".utf8), Array("go\n".utf8), Timestamp(nanoseconds: 0))
        _ = chain.take(.began, at: start)
        _ = chain.take(.bytes(stop, .fromClient), at: start)
        #expect(chain.take(.end(ending, .fromClient), at: start + .seconds(1)) == [])
        let outputs = chain.take(.bytes(go, .fromServer), at: start + .seconds(2)).filter {
            if case .report = $0 { false } else { true }
        }
        #expect(outputs == [.write(stop, .fromClient), .end(ending, .fromClient), .write(go, .fromServer)])
        #expect(chain.heldBytes(.fromClient) == 0)
    }

    /// A reset waits for a hold, but not for long; also behind a FIN.
    @Test(arguments: [false, true]) func aResetDoesNotWaitForLong(isClosed: Bool) throws {
        let (rules, format) = try load(["hold: all"])
        var chain = try #require(RuleSet(rules, seed: 1).stages(of: 1, format: format))
        let start = Timestamp(nanoseconds: 0)
        _ = chain.take(.began, at: start)
        _ = chain.take(.bytes(Array("stop\n".utf8), .fromClient), at: start)
        if isClosed { #expect(chain.take(.end(.fin, .fromClient), at: start) == []) }
        #expect(chain.take(.end(.reset, .fromClient), at: start) == [])
        let outputs = chain.take(.wake, at: start + .seconds(10))
        #expect(outputs == [.discarded(5, .fromClient), .end(.reset, .fromClient)])
    }

    // MARK: Several rules on one frame

    /// A delay counts whatever else is done to the frame, and in whichever order.
    @Test(arguments: [
        ("truncate: 1; end: fin; when: body.text == \"bb\"", "a\nb", 510.0),
        ("truncate: 1; when: body.text == \"bb\"", "a\nb", 510),
        ("swap: body.text == \"bb\"", "a\nc\nbb\nd\n", 510),
        ("hold: body.text == \"bb\"; until: body.text == \"c\"", "a\nbb\nc\nd\n", 510),
        ("hold: body.text == \"bb\"; for: 5 ms", "a\nbb\nc\nd\n", 510),
        ("hold: body.text == \"bb\"; for: 700 ms", "a\nbb\nc\nd\n", 710),
    ])
    func aDelayCounts(other: String, expected: String, time: Double) throws {
        let delay = "delay: 500 ms; when: body.text == \"bb\""
        for texts in [[delay, other], [other, delay]] {
            let (played, passed) = try play(texts, "a\n", "bb\n", "c\n", "d\n")
            #expect(passed == expected, "\(texts)")
            let write = try #require(played.writes.first { $0.bytes.first == UInt8(ascii: "b") }, "\(texts)")
            #expect(abs(write.time - time) < 0.001, "\(texts)")
            #expect(played.ends.fromClient == (texts.contains { $0.hasPrefix("truncate: 1; when") } ? .reset : .fin))
        }
    }

    /// What a rule before has done already is not claimed by another one.
    @Test func whatIsNotDoneIsReported() throws {
        let (swap, hold) = ("swap: body.text == \"b\"", "hold: body.text == \"b\"; for: 15 ms")
        let (swapped, first) = try play([swap, hold], "a\n", "b\n", "c\n")
        #expect(first == "a\nc\nb\n")
        #expect(
            swapped.reports.map(\.detail)
                == ["after the next frame", "not done: a rule before it has swapped the frame"])
        let (held, second) = try play([hold, swap], "a\n", "b\n", "c\n")
        #expect(second == "a\nb\nc\n")
        #expect(held.reports.map(\.detail) == ["", "not done: it waits for the end of a hold"])
    }
}
