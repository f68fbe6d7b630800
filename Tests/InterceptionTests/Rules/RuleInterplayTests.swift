import Framing
import Interception
import Streams
import TestSupport
import Testing

/// Rules that meet on one frame, and frames that come slowly, in parts, or at the end.
@Suite struct RuleInterplayTests {
    private func rules(_ texts: [String], _ format: Format?) throws -> [Rule] {
        try texts.enumerated().map { try RuleFile.rule($1, number: $0 + 1, format: format) }
    }

    private func piece(_ text: String, _ direction: Direction = .fromClient) -> Conversations.Piece {
        Conversations.Piece(bytes: Array(text.utf8), direction: direction)
    }

    private func play(
        _ texts: [String], _ pieces: [Conversations.Piece], format name: String = "line",
        limits: StageChain.Limits = .init()
    ) throws -> Played {
        let format = try #require(try BuiltInFormats.format(named: name))
        return try Played(try rules(texts, format), format, pieces, pace: .milliseconds(10), limits: limits)
    }

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test func whatOneRuleLeavesTheNextOneGets() throws {
        let twice = try play(
            ["replace: { body: { text: abcdef } }", "replace: { body: { text: x } }", "corrupt: body; bits: 1"],
            [piece("one\n")])
        #expect(twice.passed.fromClient.count == 2 && twice.reports.allSatisfy { !$0.detail.hasPrefix("not done") })
        let cut = try play(
            ["truncate: 1", "corrupt: body; bits: 3", "replace: { body: { text: y } }"], [piece("one\n")])
        #expect(text(cut.passed.fromClient) == "o")
        #expect(cut.reports.count { $0.detail == "not done: a rule before it has left no whole frame" } == 2)
        // A head of JSON is rewritten, with other bytes before the body.
        let (format, pieces) = try Conversations.of("im-json")
        let stream = pieces.filter { $0.direction == .fromClient }.flatMap(\.bytes)
        let both = try Played(
            try rules(["replace: { fields: { a: one } }; nth: 2", "replace: { body: { text: two } }; nth: 2"], format),
            format,
            [Conversations.Piece(bytes: stream, direction: .fromClient)])
        let frames = Framed(both.passed.fromClient, .fromClient, format)
        #expect(frames.unframed == 0 && text(Array(frames.frames[1].bytes.suffix(3))) == "two")
        #expect(text(frames.frames[1].bytes).contains("\"a\" : \"one\""))
    }

    @Test func rawReplacesTheBytesAndNothingElse() throws {
        let crlf = try play(
            ["replace: { body: { text: TWO } }; raw: true; when: body.text == \"two\""], [piece("one\r\ntwo\r\n")])
        #expect(text(crlf.passed.fromClient) == "one\r\nTWO\r\n")
        let (format, pieces) = try Conversations.of("im-json")
        let stream = pieces.filter { $0.direction == .fromClient }.flatMap(\.bytes)
        let frame = try #require(Framed(stream, .fromClient, format).frames.first { $0.info.shape.body > 3 })
        let nth = frame.info.index + 1
        let played = try Played(
            try rules(["replace: { body: { text: ab } }; raw: true; nth: \(nth)"], format), format,
            [Conversations.Piece(bytes: stream, direction: .fromClient)])
        let (start, body) = (frame.info.offset + frame.info.shape.head, frame.info.shape.body)
        #expect(played.passed.fromClient == stream[..<start] + Array("ab".utf8) + stream[(start + body)...])
        let flipped = try Played(
            try rules(["corrupt: fields.type; nth: \(nth)"], format), format,
            [Conversations.Piece(bytes: stream, direction: .fromClient)])
        #expect(flipped.passed.fromClient.count == stream.count && flipped.passed.fromClient != stream)
    }

    @Test func whatIsInjectedIsAtAFrameBoundary() throws {
        // The server's frame is larger than what may be held: it has begun to pass.
        var limits = StageChain.Limits()
        limits.bytes = 20
        let long = String(repeating: "x", count: 30)
        let pieces = [piece(long, .fromServer), piece("ask\n"), piece("y\nz\n", .fromServer)]
        let played = try play(
            ["inject: { body: { text: hey } }; to: client; when: body.text == \"ask\""], pieces, limits: limits)
        #expect(text(played.passed.fromServer) == long + "y\nhey\nz\n")
        // The same for one that passes because its end is not known.
        let silent = try Played(
            try rules(
                ["inject: { body: { text: hey } }; to: client; when: body.text == \"ask\""],
                BuiltInFormats.format(named: "line")),
            try BuiltInFormats.format(named: "line"),
            [piece("long", .fromServer), piece("ask\n"), piece("er\nz\n", .fromServer)],
            pace: .seconds(2))
        #expect(text(silent.passed.fromServer) == "longer\nhey\nz\n")
        // At most 1,000 wait for that.
        let many = try play(
            ["inject: 0x780a; to: client"],
            [piece(long, .fromServer), piece(String(repeating: "a\n", count: 1_100)), piece("\n", .fromServer)],
            limits: limits)
        #expect(many.reports.count { $0.detail.hasPrefix("not done: 1000 frames wait") } == 100)
        #expect(many.passed.fromServer.count == 31 + 2_000)
        // After a frame that waits, or is swapped, it waits, too.
        let held = try play(
            ["hold: body.text == \"a\"; for: 15 ms", "inject: 0x780a; to: server; when: body.text == \"a\""],
            [piece("a\n"), piece("b\n"), piece("c\n")])
        #expect(text(held.passed.fromClient) == "a\nx\nb\nc\n")
        let swapped = try play(
            ["swap: body.text == \"a\"", "inject: 0x780a; to: server; when: body.text == \"a\""],
            [piece("a\n"), piece("b\n"), piece("c\n")])
        #expect(text(swapped.passed.fromClient) == "b\na\nx\nc\n")
    }

    @Test func aTruncationComesAfterWhatWaits() throws {
        let played = try play(
            ["hold: body.text == \"a\"", "truncate: 1; when: body.text == \"c\""],
            [piece("a\n"), piece("b\n"), piece("cd\n"), piece("c\n")])
        #expect(text(played.passed.fromClient) == "a\nb\ncd\nc" && played.ends.fromClient == .reset)
        let swapped = try play(
            ["swap: body.text == \"a\"", "truncate: 1; end: fin; when: body.text == \"c\""],
            [piece("a\n"), piece("c\n")])
        #expect(text(swapped.passed.fromClient) == "a\nc" && swapped.ends.fromClient == .fin)
    }

    /// A frame of one side may end the hold of the other, even if the same rule holds it.
    @Test func aHoldOfBothSidesEnds() throws {
        let played = try play(
            ["hold: all; until: from == server; for: 30 s"], [piece("a\n"), piece("b\n", .fromServer)])
        #expect(played.writes.first?.time == 10 && text(played.passed.fromClient) == "a\n")
        let counted = try play(["hold: all; once: true; for: 15 ms"], [piece("a\n"), piece("b\n"), piece("c\n")])
        #expect(counted.writes.map { text($0.bytes) } == ["a\nb\n", "c\n"])
    }

    // MARK: Slow frames

    /// Where only a pause, the next frame, or the end of the stream ends a frame, it passes then, and not later.
    @Test func framesThatPausesEnd() throws {
        let format = try #require(try BuiltInFormats.format(named: "marker"))
        let played = try Played(
            try rules(["drop: all; nth: 2"], format), format, [piece("abLink-1"), piece("abmore")], pace: .seconds(5))
        #expect(text(played.passed.fromClient) == "abLink-1" && played.reports.count == 1)
        // The last one ends with the stream.
        let ended = try Played(try rules(["drop: all; nth: 2"], format), format, [piece("abLink-1"), piece("abmore")])
        #expect(text(ended.passed.fromClient) == "abLink-1" && ended.reports.count == 1)
        #expect(try #require(played.writes.first).time < 5_000)
    }

    /// What may still become a frame passes after a second without more.
    @Test func whatMayBeAFrameDoesNotWaitForLong() throws {
        let played = try play(["drop: body.text == \"x\""], [piece("no end"), piece("\nx\n")])
        #expect(text(played.passed.fromClient) == "no end\n")
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let slow = try Played(
            try rules(["drop: all"], format), format, [piece("no end"), piece(" here\nx\n")], pace: .seconds(3))
        #expect(text(slow.passed.fromClient) == "no end here\n")
        #expect(try #require(slow.writes.first).time == 1_000)
    }

    /// A stream that never pauses between frames keeps its rules for longer than anything is held.
    @Test func nothingIsReleasedThatDoesNotWait() throws {
        let format = try #require(try BuiltInFormats.format(named: "line"))
        let pieces = (0..<300).map { piece(" a\($0)\nb\($0)") }
        let played = try Played(
            try rules(["drop: body.text startsWith \"b\""], format), format, pieces, pace: .milliseconds(500))
        #expect(played.released == 0)
        #expect(text(played.passed.fromClient) == " a0\nb299", "the last one has no end")
        #expect(played.reports.count == 299)
    }

    // MARK: Bytes

    @Test func aLimitAfterAStall() throws {
        let played = try play(
            ["stall: 1 s; bytes: 100 B", "limit: 150 B"],
            [Conversations.Piece(bytes: [UInt8](repeating: 1, count: 200), direction: .fromClient)])
        #expect(played.passed.fromClient.count == 150 && played.reports.count == 2)
    }

    @Test func aResetAfterAFINIsNotDelayed() throws {
        for text in ["latency: 10 ms", "drop: body.text == \"x\""] {
            let format = try #require(try BuiltInFormats.format(named: "line"))
            var chain = try #require(RuleSet(try rules([text], format), seed: 1).stages(of: 1, format: format))
            let start = Timestamp(nanoseconds: 0)
            _ = chain.take(.began, at: start)
            _ = chain.take(.end(.fin, .fromClient), at: start)
            _ = chain.take(.wake, at: start + .seconds(1))
            #expect(
                chain.take(.end(.reset, .fromClient), at: start + .seconds(2)) == [.end(.reset, .fromClient)], "\(text)"
            )
        }
    }

    @Test func sumsOfDelaysDoNotOverflow() throws {
        let many = Array(repeating: "delay: 270000 h", count: 12)
        let played = try play(many, [piece("a\n")])
        #expect(text(played.passed.fromClient) == "a\n")
    }
}
