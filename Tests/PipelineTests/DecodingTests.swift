import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

@Suite struct DecodingTests {
    let chat: ChatBytes
    let automatic: DecodingOptions

    init() throws {
        chat = try ChatBytes()
        automatic = DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
    }

    /// The lines without anything that may depend on segmentation. A summary counts split and merged frames.
    private func comparable(_ lines: [TraceLine]) -> [String] {
        lines.map { $0.withoutCutting.replacing(#/"split":\d+,"merged":\d+,/#, with: "") }
    }

    private func expectAddsUp(
        _ conversation: Conversation, _ decoded: (lines: [TraceLine], summary: Summary), _ seed: UInt64
    ) {
        let closed = decoded.lines.last { $0.event == "closed" }
        for direction in Direction.allCases {
            func count(_ key: String) -> Int { closed?.number(key, of: direction.sender) ?? -1 }
            #expect(count("bytes") == conversation.count(direction), "seed \(seed)")
            let parts = count("framed") + count("unframed") + count("padding") + count("missing")
            #expect(parts == count("bytes"), "seed \(seed)")
            let places = decoded.lines.filter {
                ["frame", "unframed"].contains($0.event) && $0.from == direction.sender
            }
            var end = 0
            var padding = 0
            for place in places {
                // Padding is counted alone; anything else follows the preceding bytes.
                padding += (place[number: "offset"] ?? -1) - end
                end = (place[number: "offset"] ?? 0) + (place[number: "length"] ?? 0)
            }
            padding += conversation.count(direction) - end
            #expect(padding == count("padding"), "nothing is skipped, seed \(seed)")
        }
        let all = Direction.allCases.reduce(0) { $0 + conversation.count($1) }
        #expect(decoded.summary.total.bytes.bytes == all && decoded.summary.total.connections == 1, "seed \(seed)")
    }

    @Test(arguments: [true, false], [9_000, 8_088] as [UInt16])
    func anyCuttingGivesTheSameLines(_ handshake: Bool, _ port: UInt16) async throws {
        let options = DecodingOptions(.automatic([chat.format]))
        try await expectCuttingDoesNotMatter(handshake, port, options)
    }

    @Test(arguments: [true, false], [9_000, 8_088] as [UInt16])
    func anyCuttingGivesTheSameLinesOfAFormatThatIsAskedFor(_ handshake: Bool, _ port: UInt16) async throws {
        try await expectCuttingDoesNotMatter(handshake, port, DecodingOptions(.fixed(chat.format)))
    }

    @Test(arguments: [true, false], [9_000, 8_088] as [UInt16])
    func anyCuttingGivesTheSameChoiceAmongAllFormats(_ handshake: Bool, _ port: UInt16) async throws {
        try await expectCuttingDoesNotMatter(handshake, port, automatic)
    }

    private func expectCuttingDoesNotMatter(_ handshake: Bool, _ port: UInt16, _ options: DecodingOptions) async throws
    {
        let seed = UInt64.random(in: 0...UInt64.max)
        for round in UInt64(0)..<4 {
            await Task.yield()
            var generator = SeededGenerator(seed: seed &+ round)
            var conversation = try Conversation(chat: chat, using: &generator)
            (conversation.handshake, conversation.serverPort) = (handshake, port)
            if round % 3 == 1 { conversation.pieces.removeFirst() }
            if round % 3 == 2 { conversation.closing = .endOfInput }
            let whole = try conversation.decode(options)
            expectAddsUp(conversation, whole, seed &+ round)
            let expected = comparable(whole.lines)
            for other in [conversation.byteByByte] + (0..<3).map({ _ in conversation.cut(using: &generator) }) {
                let decoded = comparable(try other.decode(options).lines)
                let difference = zip(decoded + ["-"], expected + ["-"]).first { $0 != $1 }
                #expect(difference == nil, "seed \(seed &+ round)")
            }
        }
    }

    /// Bytes picked up mid-stream may begin with those that TLS records begin with: a record is one however it is cut.
    @Test func aFirstByteLikeThatOfTLSChangesNothing() throws {
        let message = Array("{\"type\":\"txt\",\"size\":\"3\"}\r\nabc".utf8)
        for type in UInt8(19)...24 {
            for start in [[type, 0x61, 0x62], [type, 3, 9], [type], [type, 3], [type, 3, 3, 0, 4]] as [[UInt8]] {
                var conversation = Conversation(start + message + message)
                conversation.handshake = false
                let options = DecodingOptions(.automatic([chat.format]))
                let whole = comparable(try conversation.decode(options).lines)
                let bytewise = comparable(try conversation.byteByByte.decode(options).lines)
                let difference = zip(bytewise + ["-"], whole + ["-"]).first { $0 != $1 }
                #expect(difference == nil, "\(start)")
            }
        }
    }

    /// Formats with evidence that random bytes do not contain.
    private func certain() throws -> DecodingOptions {
        DecodingOptions(.automatic(try BuiltInFormats.all().filter { ["im-json", "im-magic"].contains($0.name) }))
    }

    @Test func whatIsNotRecognisedIsUnframedAndSaysHowMuchWasSeen() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for (count, seen) in [(70_000, 65_536), (65_536, 65_536), (65_535, 65_535), (100, 100)] {
            await Task.yield()
            let bytes = generator.bytes(count)
            var lines: [[String]] = []
            for cut in [Conversation(bytes), Conversation(bytes).cut(using: &generator)] {
                let decoded = try cut.decode(certain())
                expectAddsUp(cut, decoded, seed)
                let formats = decoded.lines.filter { $0.event == "format" }.map(\.text)
                #expect(formats == [], "seed \(seed)")
                let runs = decoded.lines.filter { $0.event == "unframed" }
                #expect(runs.allSatisfy { $0["reason"] == "not-detected" })
                let detail = "no known format in the first \(seen) bytes from the client and 0 from the server"
                #expect(runs.allSatisfy { $0["detail"] == detail }, "\(runs.first?["detail"] ?? "none"), seed \(seed)")
                lines.append(comparable(decoded.lines))
            }
            #expect(lines[0] == lines[1], "seed \(seed), \(count) bytes")
        }
    }

    @Test func anEmptyConnectionIsOne() throws {
        var nothing = Conversation([])
        nothing.pieces = []
        let decoded = try nothing.decode(automatic)
        #expect(decoded.lines.map(\.event) == ["trace", "opened", "closed", "summary"])
    }

    @Test func afterTheLimitTheFormatIsNotLookedForAnyMore() throws {
        var generator = SeededGenerator(seed: 7)
        let garbage = [UInt8](repeating: 0, count: 65_536)
        let message = try chat.message("txt", Array("hello".utf8))
        let late = try Conversation(garbage + message + message).decode(automatic)
        #expect(late.summary.total.bytes.frames == 0)
        var cut = Conversation(garbage + message + message).cut(using: &generator)
        #expect(try comparable(cut.decode(automatic).lines) == comparable(late.lines))
        // The port identifies the format if the bytes do not.
        cut.serverPort = 8_088
        let byPort = try cut.decode(automatic)
        #expect(byPort.lines.first { $0.event == "format" }?["by"] == "port")
        #expect(byPort.summary.total.bytes.frames == 2)
    }

    @Test func aFormatThatIsAskedForIsNotLookedFor() throws {
        let garbage = Array("no frame at all".utf8)
        let fixed = try Conversation(garbage).decode(DecodingOptions(.fixed(chat.format)))
        #expect(fixed.lines.map(\.event) == ["trace", "opened", "format", "unframed", "closed", "summary"])
        #expect(fixed.lines[2]["by"] == "option" && fixed.lines[3]["reason"] == "bad-head")
        var other = chat.format
        other.name = "mine"
        var options = automatic
        options.byPort = [7_000: other]
        var conversation = Conversation(try chat.message("txt", []))
        #expect(try conversation.decode(options).lines.first { $0.event == "format" }?["format"] == "im-json")
        conversation.serverPort = 7_000
        let asked = try #require(try conversation.decode(options).lines.first { $0.event == "format" })
        #expect(asked["format"] == "mine" && asked["evidence"] == "requested for port 7000")
    }

    @Test func aStreamPickedUpInTheMiddleIsFramedFromTheNextHeadOn() throws {
        let message = try chat.message("txt", Array("hello".utf8))
        var conversation = Conversation(Array(message.dropFirst(10)) + message + message)
        conversation.handshake = false
        let decoded = try conversation.decode(automatic)
        #expect(decoded.summary.total.bytes.frames == 2, "\(decoded.lines.map { $0.text.prefix(300) })")
        let unframed = try #require(decoded.lines.first { $0.event == "unframed" })
        #expect(unframed["reason"] == "no-sync" && unframed[number: "length"] == message.count - 10)
        #expect(unframed["detail"]?.hasPrefix("picked up mid-stream; resynchronized at offset") == true)
        expectAddsUp(conversation, decoded, 0)
    }
}
