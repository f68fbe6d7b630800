import Framing
import Streams
import Testing

/// The built-in formats applied to the examples of the write-ups, and round trips through their encoders.
@Suite struct BuiltInFormatTests {
    private func format(_ name: String, _ parameters: [String: String] = [:]) throws -> Format {
        try #require(try BuiltInFormats.format(named: name, parameters: parameters))
    }

    /// (type, body as text) of each frame, and the unframed bytes.
    private func read(
        _ bytes: [UInt8], _ format: DirectionFormat, cuts: [Int] = []
    ) -> (frames: [[String]], unframed: Int, padding: Int) {
        let (log, counts) = frame(cut(bytes, at: cuts), with: format.rule)
        let frames = log.results.compactMap { result -> [String]? in
            guard case .frame(_, _, let shape, _, let bytes) = result else { return nil }
            return format.withContent(of: bytes.span.bytes, shape) { content, shape in
                let body = content.copied(shape.head..<shape.head + shape.body)
                return [format.type(of: content, shape) ?? "-", String(decoding: body, as: UTF8.self)]
            }
        }
        return (frames, counts.unframed, counts.padding)
    }

    @Test func tlv32() throws {
        let format = try format("tlv32")
        let hello: [UInt8] = [0x0d, 0, 0, 0, 2, 0, 0, 0] + Array("Hello".utf8)
        #expect(read(hello + hello, format.directions.fromClient).frames == [["text", "Hello"], ["text", "Hello"]])
        let answer: [UInt8] = [0x0c, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]
        let server = format.directions.fromServer
        #expect(read(answer, server).frames == [["text", ""]])
        #expect(
            server.fields(of: answer.span.bytes, FrameShape(head: 12, body: 0)).last == Field("result", .integer(1)))
        #expect(
            try format.directions.fromClient.encode([Field("command", .text("text"))], body: Array("Hello".utf8))
                == hello)
    }

    @Test func markersMayBeSplitAndRepeatInsideWords() throws {
        let client = try format("marker", ["idle": "none"]).directions.fromClient
        let bytes = Array("xxab13133334444abLink-Gabriel".utf8)
        let expected = [["text", "13133334444"], ["Link", "Link-G"], ["text", "riel"]]
        for cuts in [[], [3], [16, 17, 18]] { #expect(read(bytes, client, cuts: cuts).frames == expected) }
        #expect(read(bytes, client).unframed == 2)
    }

    @Test func aPauseEndsAMarkersFrame() throws {
        let client = try format("marker").directions.fromClient
        // Pieces are a second apart.
        let read = read(Array("abonemore abtwo".utf8), client, cuts: [5])
        #expect(read.frames == [["text", "one"], ["text", "two"]])
        #expect(read.unframed == 5)
    }

    @Test func jsonEnvelopesNeedNoDelimiter() throws {
        let client = try format("json-envelope").directions.fromClient
        let one = "{\"head\":\"phoneNum\",\"body\":13133334444,\"end\":11}"
        let read = read(Array("\(one)\(one) \n\(one),\(one){\"s\":\"}\\\"{\"}".utf8), client)
        #expect(read.frames.map { $0[1] } == [one, one, one, one, "{\"s\":\"}\\\"{\"}"])
        #expect((read.unframed, read.padding) == (1, 2))
    }

    @Test func textHeartbeatsAreTakenApart() throws {
        let client = try format("text-heartbeat").directions.fromClient
        let heartbeat = "12310.300000"
        #expect(
            read(Array((heartbeat + heartbeat).utf8), client).frames == [
                ["heartbeat", heartbeat], ["heartbeat", heartbeat],
            ])
        #expect(
            read(Array("\(heartbeat)hello".utf8), client).frames == [["heartbeat", heartbeat], ["text", "hello"]])
        #expect(read(Array("hello \(heartbeat)".utf8), client).frames == [["text", "hello \(heartbeat)"]])
    }

    @Test func linesEndInLineFeed() throws {
        let client = try format("line").directions.fromClient
        let bytes = Array("one\r\ntwo\n\nesc\r\nrest\r".utf8)
        for cuts in [[], [4], [3, 4]] {
            let read = read(bytes, client, cuts: cuts)
            #expect(read.frames == [["line", "one"], ["line", "two"], ["line", ""], ["quit", "esc"]])
            #expect(read.unframed == 5)
        }
    }

    @Test func len16LengthsThatCannotBeAreUnframed() throws {
        for order in ["big", "little"] {
            let client = try format("len16-id", ["byteOrder": order]).directions.fromClient
            func message(_ id: Int64, _ text: String) throws -> [UInt8] {
                try client.encode([Field("id", .integer(id)), Field("flag", .integer(7))], body: Array(text.utf8))
            }
            let good = try message(3, "hello") + message(100, "") + message(1, "x") + message(3, "again")
            #expect(read(good, client).frames.map { $0[0] } == ["chat", "heartbeat", "login", "chat"])
            let bad = read([0, 0] + good, client)
            #expect(bad.unframed == 2 && bad.frames.count == 4, "\(order): \(bad)")
        }
    }

    @Test(arguments: [true, false], [62, 11])
    func imMagicFindsByteOrderAndHeader(isBig: Bool, headerLength: Int) throws {
        let client = try format("im-magic").directions.fromClient
        func number(_ value: UInt32) -> [UInt8] {
            let bytes = (0..<4).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
            return isBig ? bytes.reversed() : bytes
        }
        func message(_ command: UInt8, _ body: String) -> [UInt8] {
            let ids = Array("1001".utf8) + [UInt8](repeating: 0, count: 46) + [1]
            let middle = headerLength == 62 ? ids : []
            return number(0x2017_0817) + [1, 1, command] + middle + number(UInt32(body.utf8.count)) + Array(body.utf8)
        }
        let stream = message(1, "{\"a\":1}") + message(2, "{}") + message(9, "x")
        let expected = [["login", "{\"a\":1}"], ["2", "{}"], ["9", "x"]]
        for cuts in [[], Array(1..<stream.count), [7, 40]] {
            let read = read(stream, client, cuts: cuts)
            #expect(read.frames == expected && read.unframed == 0, "cuts \(cuts.prefix(3))")
        }
        #expect(read(message(1, "alone"), client).frames == [["login", "alone"]])
    }

    @Test func jt808EscapesAndChecksum() throws {
        let yaml = """
            format: jt808
            header: [{ id: u16 }, { properties: u16 }, { phone: { type: bytes, size: 6 } }, { serial: u16 }]
            trailer: [{ check: { type: u8, checksum: xor8 } }]
            framing: { rule: escaped, start: 0x7e, end: 0x7e, escape: 0x7d, map: { 0x02: 0x7e, 0x01: 0x7d } }
            frame: { type: id }
            """
        let client = try FormatLoader.load(yaml, file: "jt808.yaml").directions.fromClient
        // The example of JT/T 808 section 4.4.2: 30 7e 08 7d 55 is sent as 30 7d 02 08 7d 01 55.
        let fields = [Field("id", .integer(2)), Field("phone", .text("013912345678")), Field("serial", .integer(1))]
        let bytes = try client.encode(fields, body: [0x30, 0x7e, 0x08, 0x7d, 0x55])
        #expect(bytes.span.bytes.copied(13..<20) == [0x30, 0x7d, 0x02, 0x08, 0x7d, 0x01, 0x55])
        #expect(bytes.first == 0x7e && bytes.last == 0x7e && bytes.dropFirst().dropLast().allSatisfy { $0 != 0x7e })
        expectCuttingDoesNotMatter(bytes + bytes + [1, 2] + bytes, rule: client.rule)
        let (log, _) = frame([.bytes(bytes)], with: client.rule)
        let info = try #require(log.frames.first)
        client.withContent(of: bytes.span.bytes, info.shape) { content, shape in
            #expect(content.copied(shape.head..<shape.head + shape.body) == [0x30, 0x7e, 0x08, 0x7d, 0x55])
            #expect(client.fields(of: content, shape).map(\.name) == ["id", "properties", "phone", "serial", "check"])
        }
    }
}
