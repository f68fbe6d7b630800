import Expressions
import Streams
import Testing

@testable import Framing

/// States of a conversation: both directions' frames depend on what either side has sent.
@Suite struct StateTests {
    private static let yaml = """
        format: x
        frame: { type: [command, code] }
        states:
          text:
            client: { header: [{ words: [command, "rest*"], ends: "\\n" }], framing: { rule: fields } }
            server: { header: [{ words: [{ code: decimal }, "rest*"], ends: "\\n" }], framing: { rule: fields } }
          binary:
            header: [{ magic: { type: u16, equals: 0xbeef } }, { length: u16 }]
            framing: { rule: length-field, field: length }
            body: json
        transitions:
          - { in: text, when: from == server and code == 200, to: binary }
          - { in: binary, when: from == client and body.json.bye exists, to: text, side: client }
        """

    /// A framer of each direction, and what they found.
    private final class Seen: FrameReceiver {
        var framers: PerDirection<Framer>
        var frames: [String] = []
        private let scratch = FramingScratch()
        private let format: Format

        init(aligned: Bool = true) throws {
            format = try FormatLoader.load(StateTests.yaml, file: "x.yaml")
            framers = format.framers(aligned: aligned)
        }

        func take(_ bytes: [UInt8], _ direction: Direction) {
            framers[direction].receive(
                bytes.span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: self)
        }

        func client(_ text: String) { take(Array(text.utf8), .fromClient) }
        func server(_ text: String) { take(Array(text.utf8), .fromServer) }
        func gap(_ count: Int, _ direction: Direction) {
            framers[direction].missing(count, at: Timestamp(nanoseconds: 0), scratch: scratch, into: self)
        }
        func finish() {
            for direction in Direction.allCases { framers[direction].finish(scratch: scratch, into: self) }
        }

        func framed(_ frame: FrameInfo, bytes: RawSpan, from direction: Direction) {
            let side = format.directions[direction]
            let body = bytes.extracting(frame.shape.head..<frame.shape.head + frame.shape.body)
            let text = side.decodeBody(of: bytes, frame.shape).withBytes(of: body) {
                String(decoding: $0.copied(), as: UTF8.self)
            }
            frames.append("\(direction.sender) \(side.type(of: bytes, frame.shape) ?? "-") \(text)")
        }
        func unframed(_ run: UnframedRun, from direction: Direction) {
            frames.append("\(direction.sender) unframed \(run.bytes.count)")
        }
        func missing(offset: Int, byteCount: Int, from direction: Direction, at time: Timestamp) {}
    }

    private func binary(_ json: String) -> [UInt8] { [0xbe, 0xef, 0, UInt8(json.utf8.count)] + Array(json.utf8) }

    @Test func aFrameOfEitherSideChangesBoth() throws {
        let seen = try Seen()
        seen.client("HELLO there\n")
        seen.server("100 wait\n200 go\n")
        seen.take(binary("{\"a\":1}") + binary("{\"bye\":1}") + Array("AGAIN\n".utf8), .fromClient)
        // Only the client's side went back.
        seen.take(binary("{\"b\":2}"), .fromServer)
        seen.finish()
        #expect(
            seen.frames == [
                "client HELLO ", "server 100 ", "server 200 ", "client - {\"a\":1}", "client - {\"bye\":1}",
                "client AGAIN ",
                "server - {\"b\":2}",
            ])
    }

    /// However the chunks are cut; chunks of the two sides keep their order.
    @Test func cuttingDoesNotMatter() throws {
        let chunks: [(Direction, [UInt8])] = [
            (.fromClient, Array("HELLO\n".utf8)), (.fromServer, Array("200 go\n".utf8) + binary("{}")),
            (.fromClient, binary("{\"a\":\"\\n\"}") + binary("{\"bye\":0}") + Array("ONE\nTWO\n".utf8)),
        ]
        let whole = try Seen()
        for (direction, bytes) in chunks { whole.take(bytes, direction) }
        #expect(whole.frames.count == 7)
        let bytewise = try Seen()
        for (direction, bytes) in chunks { for byte in bytes { bytewise.take([byte], direction) } }
        #expect(bytewise.frames == whole.frames)
    }

    /// A frame that had begun is of the state in which it began.
    @Test func aFrameInProgressKeepsItsState() throws {
        let seen = try Seen()
        seen.client("HEL")
        seen.server("200 go\n")
        seen.client("LO\n")
        seen.take(binary("{}"), .fromClient)
        seen.finish()
        #expect(seen.frames == ["server 200 ", "client HELLO ", "client - {}"])
    }

    /// Picked up mid-stream, the frames show which state it is, for both sides.
    @Test func theStateIsFoundByEvidence() throws {
        let seen = try Seen(aligned: false)
        seen.take(binary("{\"a\":1}") + binary("{\"a\":2}"), .fromClient)
        seen.take(binary("{\"b\":1}"), .fromServer)
        seen.take(binary("{\"bye\":1}") + Array("QUIT\n".utf8), .fromClient)
        seen.finish()
        #expect(
            seen.frames == [
                "client - {\"a\":1}", "client - {\"a\":2}", "server - {\"b\":1}", "client - {\"bye\":1}",
                "client QUIT ",
            ])
    }

    /// What a gap swallowed may have changed the state.
    @Test func afterAGapTheStateIsFoundAgain() throws {
        let seen = try Seen()
        seen.client("HELLO\n")
        seen.gap(40, .fromServer)
        seen.take(binary("{\"b\":1}") + binary("{\"b\":2}"), .fromServer)
        seen.finish()
        #expect(seen.frames == ["client HELLO ", "server - {\"b\":1}", "server - {\"b\":2}"])
    }

    /// Of one side alone the transitions of the other are not seen: its frames show them.
    @Test func oneSideAloneIsFollowed() throws {
        let seen = try Seen()
        seen.client("HELLO\n")
        seen.take(binary("{\"a\":1}") + binary("{\"bye\":1}"), .fromClient)
        seen.client("LAST\n")
        seen.finish()
        #expect(seen.frames == ["client HELLO ", "client - {\"a\":1}", "client - {\"bye\":1}", "client LAST "])
    }

    /// A client that pipelines without end: what is remembered is bounded, and answers still belong to their requests.
    @Test func requestsWithoutAnswersAreBounded() throws {
        guard let text = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let format = try FormatLoader.load(text, file: "http")
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        let scratch = FramingScratch()
        func take(_ text: String, _ direction: Direction) {
            framers[direction].receive(
                Array(text.utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        }
        // More than are remembered, a HEAD after them, and a method too long to be remembered.
        for _ in 0..<1_500 { take("GET / HTTP/1.1\r\n\r\n", .fromClient) }
        take("HEAD / HTTP/1.1\r\n\r\n", .fromClient)
        for _ in 0..<1_501 { take("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", .fromServer) }
        // All were answered: the next ones are known again.
        take(String(repeating: "X", count: 300) + " / HTTP/1.1\r\n\r\nHEAD / HTTP/1.1\r\n\r\n", .fromClient)
        take("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", .fromServer)
        take("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", .fromServer)
        #expect(log.results.count == 1_500 + 1 + 1_501 + 2 + 3)
        #expect(log.frames.suffix(3).map(\.shape.body) == [1, 0, 2])
    }

    @Test func opaqueIsChunks() throws {
        let yaml = Self.yaml.replacing("code == 200, to: binary", with: "code == 200, to: opaque")
        let format = try FormatLoader.load(yaml, file: "x.yaml")
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        let scratch = FramingScratch()
        for (direction, text) in [(Direction.fromServer, "200 go\n"), (.fromClient, "any"), (.fromClient, "thing")] {
            framers[direction].receive(
                Array(text.utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        }
        #expect(log.frames.map(\.length) == [7, 3, 5])
    }

    // MARK: Answers that depend on requests

    @Test func anAnswersEndDependsOnItsRequest() throws {
        guard let text = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let format = try FormatLoader.load(text, file: "http")
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        let scratch = FramingScratch()
        func take(_ text: String, _ direction: Direction) {
            framers[direction].receive(
                Array(text.replacing("\n", with: "\r\n").utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0,
                scratch: scratch, into: log)
        }
        // Pipelined; the second is a HEAD, and the third is first answered by 100.
        take("GET /a HTTP/1.1\n\nHEAD /b HTTP/1.1\n\nPOST /c HTTP/1.1\nContent-Length: 2\n\nok", .fromClient)
        take(
            "HTTP/1.1 200 OK\ncontent-length: 3\n\nabcHTTP/1.1 200 OK\nContent-Length: 999\n\nHTTP/1.1 100 Continue\n\n",
            .fromServer)
        take("HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n2\nok\n0\n\nHTTP/1.1 200 OK\n\nto the end", .fromServer)
        for direction in Direction.allCases { framers[direction].finish(scratch: scratch, into: log) }
        #expect(log.frames.map(\.shape.body) == [0, 0, 2, 3, 0, 0, 12, 10])
        #expect(log.results.count == 8)
    }

    /// A gap in a body: the head says what it was a request or an answer of.
    @Test func aMessageWithAGapIsARequestOrAnAnswer() throws {
        guard let text = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let format = try FormatLoader.load(text, file: "http")
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        let scratch = FramingScratch()
        func take(_ text: String, _ direction: Direction) {
            framers[direction].receive(
                Array(text.replacing("\n", with: "\r\n").utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0,
                scratch: scratch, into: log)
        }
        func lose(_ count: Int, _ direction: Direction) {
            framers[direction].missing(count, at: Timestamp(nanoseconds: 0), scratch: scratch, into: log)
        }
        take("POST /a HTTP/1.1\nContent-Length: 4\n\na", .fromClient)
        lose(3, .fromClient)
        take("HEAD /b HTTP/1.1\n\nGET /c HTTP/1.1\n\n", .fromClient)
        take("HTTP/1.1 200 OK\nContent-Length: 10\n\nabc", .fromServer)
        lose(4, .fromServer)
        take("hijHTTP/1.1 200 OK\nContent-Length: 5\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok", .fromServer)
        #expect(log.frames.map(\.shape.body) == [4, 0, 0, 10, 0, 2])
        #expect(log.frames.map(\.missing) == [3, 0, 0, 4, 0, 0])
    }

    /// After 2xx to CONNECT, and only there, the bytes are another protocol's.
    @Test func aTransitionMayDependOnTheRequest() throws {
        guard let text = ExampleFormats.yaml(of: "http") else {
            Issue.record("no example http")
            return
        }
        let format = try FormatLoader.load(text, file: "http")
        let log = FramedLog()
        var framers = format.framers(aligned: true)
        let scratch = FramingScratch()
        func take(_ text: String, _ direction: Direction) {
            framers[direction].receive(
                Array(text.utf8).span.bytes, at: Timestamp(nanoseconds: 0), packet: 0, scratch: scratch, into: log)
        }
        take("GET / HTTP/1.1\r\n\r\nCONNECT example.org:443 HTTP/1.1\r\n\r\n", .fromClient)
        take("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na", .fromServer)
        take("HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n", .fromServer)
        take("CONNECT example.org:443 HTTP/1.1\r\n\r\n", .fromClient)
        take("HTTP/1.1 200 Established\r\n\r\n", .fromServer)
        take("anything", .fromClient)
        take("at all", .fromServer)
        #expect(log.frames.map(\.length).suffix(2) == [8, 6])
        #expect(log.frames.count == 8 && log.results.count == 8)
    }

    /// A value of the element of a list whose member has another value.
    @Test func elementsOfListsAreFoundByTheirMembers() throws {
        let format = try FormatLoader.load(
            """
            format: x
            header: [{ tags: { until: "\\n", of: [{ tag: { type: decimal, ends: "=" } }, { value: { type: string, ends: ";" } }] } }]
            framing: { rule: fields }
            frame: { type: "tags[tag=35].value" }
            """, file: "x.yaml")
        let side = format.directions.fromClient
        let bytes = Array("8=FIX;35=A;108=30;108=31;\n".utf8)
        let shape = FrameShape(head: bytes.count, body: 0)
        #expect(side.type(of: bytes.span.bytes, shape) == "A")
        func holds(_ condition: String) throws -> Bool {
            FrameValues(info: FrameInfo(of: shape), direction: .fromClient).fulfil(
                try Expression(parsing: condition), content: bytes.span.bytes, shape: shape, format: side)
        }
        #expect(try holds("fields.tags[tag=108].value == \"30\""))
        #expect(try holds("fields.tags[value=\"31\"].tag == 108"))
        #expect(try !holds("fields.tags[tag=9].value exists"))
    }
}
