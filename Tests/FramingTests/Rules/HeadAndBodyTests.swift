import Framing
import Streams
import Testing

@Suite struct HeadAndBodyTests {
    static let example = Array(
        "{\n  \"type\" : \"txt\",\n  \"CinentID\" : \"CinentA\",\n  \"targetID\" : \"CinentB\",\n  \"size\" : \"5\"\n}\r\nHello"
            .utf8)
    let client: DirectionFormat

    init() throws {
        client = try #require(try BuiltInFormats.format(named: "im-json")).directions.fromClient
    }

    private func message(_ type: String, _ body: [UInt8], target: String = "CinentB") throws -> [UInt8] {
        let fields = [
            Field("type", .text(type)), Field("CinentID", .text("CinentA")), Field("targetID", .text(target)),
        ]
        return try client.encode(fields, body: body)
    }

    @Test func theWriteUpsExampleIs95BytesAndIsWhatTheEncoderWrites() throws {
        #expect(Self.example.count == 95)
        #expect(try message("txt", Array("Hello".utf8)) == Self.example)
        let (log, counts) = frame([.bytes(Self.example)], with: client.rule)
        let info = try #require(log.frames.first)
        #expect(log.frames.count == 1)
        #expect(info.shape == FrameShape(head: 90, body: 5))
        #expect((info.segments, info.merged) == (1, false))
        #expect((counts.framed, counts.bytes) == (95, 95))
        #expect(client.type(of: Self.example.span.bytes, info.shape) == "txt")
        #expect(client.target(of: Self.example.span.bytes, info.shape) == "CinentB")
        #expect(
            client.fields(of: Self.example.span.bytes, info.shape).map(\.name) == [
                "CinentID", "size", "targetID", "type",
            ])
    }

    @Test func anyCuttingGivesTheSameFrames() throws {
        var stream: [UInt8] = []
        for (type, body) in [("heartA", "A心跳"), ("txt", "Hello"), ("txt", "I"), ("txt", ""), ("txt", "\r\n{\r\n")] {
            stream += try message(type, Array(body.utf8))
        }
        stream += try message("img", [0xff, 0xd8, 0xff, 0xe0] + (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        expectCuttingDoesNotMatter(stream, rule: client.rule)
        expectCuttingDoesNotMatter(stream, rule: client.rule, aligned: false)
        expectCuttingDoesNotMatter(stream.dropLast(17), rule: client.rule)
        expectCuttingDoesNotMatter(Array(stream.dropFirst(31)), rule: client.rule, aligned: false)
    }

    @Test func anyCuttingOfBadBytesGivesTheSameRuns() throws {
        let good = try message("txt", Array("between".utf8))
        let bad: [String] = [
            "garbage", "{\"size\":\"-1\"}\r\n", "{\"size\":\"99999999999999999999\"}\r\n", "{\"size\":1.5}\r\n",
            "{\"type\":\"txt\"}\r\n", "{\"size\":{\"size\":\"5\"}}\r\n", "{\"size\":\"5\"} \r\n", "{{{{\r\n",
            "\r\n\r\n",
            "{\"a\":\"{\\\"size\\\":\\\"1\\\"}\"}\r\n", "{\"size\":\"\u{1}\"}\r\n", "{\"size\":\"1e2\"}\r\n",
        ]
        for text in bad {
            let stream = good + Array(text.utf8) + good + good
            let (log, _) = frame([.bytes(stream)], with: client.rule)
            #expect(log.frames.count == 3, "nothing is lost around \(text)")
            expectCuttingDoesNotMatter(stream, rule: client.rule)
        }
        expectCuttingDoesNotMatter(
            good + [0xff, 0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d, 13, 10] + good, rule: client.rule)
    }

    @Test(arguments: [
        ("{\"size\":\"-1\"}\r\nxx", UnframedReason.badLength, "size is \"-1\", expected 0 or more"),
        (
            "{\"size\":\"99999999999999999999\"}\r\nxx", .tooLong,
            "size is \"99999999999999999999\", the limit is 16777216"
        ),
        ("{\"size\":0.5}\r\nxx", .badLength, "size is 0.5, expected a count of bytes"),
        ("{\"type\":1}\r\nxx", .badHead, "the head has no size"),
        ("xx{", .badHead, "expected the { of a JSON head at offset 0, found 0x78"),
        ("{\"size\":}\r\n", .badHead, "the head is not a JSON object: expected a value at byte 8"),
        ("{\"size\":\"7\"}\r\nabc", .incomplete, "3 of 7 body bytes when the stream ended"),
        ("{\"size\":\"7", .incomplete, "10 head bytes without the delimiter that ends a head when the stream ended"),
    ])
    func badBytesSayWhatIsWrong(text: String, reason: UnframedReason, detail: String) throws {
        let (log, counts) = frame([.bytes(Array(text.utf8))], with: client.rule)
        guard case .unframed(0, _, let found, let said)? = log.results.first else {
            Issue.record("no unframed run: \(log.results)")
            return
        }
        #expect(found == reason)
        #expect(said.hasPrefix(detail), "\(said)")
        #expect(counts.unframed == text.utf8.count)
    }

    @Test func aHeadWithoutEndIsGivenUpAtItsLimit() throws {
        let endless = Array("{\"a\":\"".utf8) + Array(repeating: UInt8(ascii: "x"), count: 70_000)
        let good = try message("txt", Array("after".utf8))
        let (log, counts) = frame(
            cut(endless + good, at: Array(stride(from: 0, to: 70_000, by: 999))), with: client.rule)
        #expect(log.frames.count == 1)
        #expect(counts.unframed == endless.count)
        guard case .unframed(0, let bytes, .tooLong, let detail)? = log.results.first else {
            Issue.record("\(log.results.prefix(1))")
            return
        }
        #expect(bytes.count == UnframedRun.longest)
        #expect(detail.contains("65536"))
        expectCuttingDoesNotMatter(endless + good, rule: client.rule, everyPosition: false)
    }

    @Test func aSizeOfSixteenMegabytesReservesNothing() throws {
        var framer = Framer(rule: client.rule, direction: .fromClient, aligned: true)
        let head = Array("{\"size\":\"16000000\"}\r\nx".utf8)
        framer.receive(
            head.span.bytes, at: Timestamp(nanoseconds: 1), packet: 1, scratch: FramingScratch(), into: FramedLog())
        #expect(framer.heldBytes == head.count)
    }

    @Test func splitsAndMergesAreCountedByChunk() throws {
        let a = try message("txt", Array("a".utf8)), b = try message("txt", Array("b".utf8))
        let stream = a + b + a + b
        let (log, _) = frame(cut(stream, at: [a.count * 2 + 10, a.count * 2 + 40]), with: client.rule)
        let seen = log.frames.map { [$0.segments, $0.merged ? 1 : 0, $0.position, $0.companions] }
        #expect(seen == [[1, 1, 1, 3], [1, 1, 2, 3], [3, 1, 1, 2], [1, 1, 2, 2]])
        #expect(log.frames[2].started == Timestamp(seconds: 1, nanoseconds: 0))
        #expect(log.frames[2].time == Timestamp(seconds: 3, nanoseconds: 0))
    }

    @Test func aGapInABodyLosesBytesNotThePlace() throws {
        let message = try message("txt", Array("0123456789".utf8))
        let next = try self.message("txt", Array("next".utf8))
        let head = message.count - 10
        let (log, counts) = frame(
            [.bytes(Array(message[..<(head + 2)])), .gap(5), .bytes(Array(message[(head + 7)...]) + next)],
            with: client.rule)
        #expect(log.frames.map(\.missing) == [5, 0])
        #expect(counts.missing == 5)
        #expect(counts.bytes == message.count + next.count)
        guard case .frame(_, _, _, _, let bytes) = log.results[1] else { return }
        #expect(Array(bytes[head...]) == Array("01".utf8) + [0, 0, 0, 0, 0] + Array("789".utf8))
    }

    @Test func aGapAnywhereIsAccountedForAndFramingResumes() throws {
        var stream: [UInt8] = []
        for body in ["one", "two", "three", "four"] { stream += try message("txt", Array(body.utf8)) }
        for start in 0..<stream.count - 1 {
            for count in [1, 7, 120] where start + count < stream.count {
                let pieces: [Piece] = [
                    .bytes(Array(stream[..<start])), .gap(count), .bytes(Array(stream[(start + count)...])),
                ]
                let fed = start == 0 ? Array(pieces.dropFirst()) : pieces
                let (log, counts) = frame(fed, with: client.rule)
                #expect(counts.bytes == stream.count && counts.missing == count, "gap of \(count) at \(start)")
                #expect(log.results.contains(.missing(offset: start, byteCount: count)))
                if start + count <= 2 * 95 { #expect(counts.frames >= 1, "gap of \(count) at \(start)") }
            }
        }
    }

    @Test func randomBytesNeverBreakTheAccount() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let alphabet = Array("{}\"\\:,size0123-\r\n é".utf8) + [0, 0xff]
        for _ in 0..<200 {
            let count = Int.random(in: 1...300, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            expectCuttingDoesNotMatter(bytes, rule: client.rule, seed: seed, everyPosition: false)
            expectCuttingDoesNotMatter(bytes, rule: client.rule, aligned: false, seed: seed, everyPosition: false)
        }
    }

    @Test func encodeThenDecodeIsTheIdentity() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let texts = ["", "a", "\"quoted\\\"", "心跳", "\n\r\t\u{0}\u{7f}\u{85}", "😀", String(repeating: "x", count: 500)]
        for _ in 0..<200 {
            let names = Set((0..<4).map { _ in texts.randomElement(using: &generator) ?? "" })
            let fields = names.map { Field($0 + "k", .text(texts.randomElement(using: &generator) ?? "")) }
            let body = (0..<Int.random(in: 0...300, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            let bytes = try client.encode(fields, body: body)
            let (log, _) = frame([.bytes(bytes)], with: client.rule)
            let info = try #require(log.frames.first, "seed \(seed)")
            let decoded = client.fields(of: bytes.span.bytes, info.shape).filter { $0.name != "size" }
            #expect(Set(decoded) == Set(fields), "seed \(seed)")
            #expect(Array(bytes[info.shape.head...]) == body, "seed \(seed)")
        }
    }
}
