import Foundation
import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// What a format says of its frames' numbers, of how often they come, of the states of its conversations, and of what is inside
/// its bodies: as findings and traces show it.
@Suite struct FormatRuleTests {
    /// The lines of a trace of chunks at times in seconds.
    private func trace(
        _ yaml: String, _ chunks: [(Double, Direction, [UInt8])], closed: Double = 100,
        source: ((String) -> String?)? = nil
    ) throws -> [TraceLine] {
        let format = try FormatLoader.load("format: mine\n" + yaml, file: "mine.yaml", source: source)
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)), sinks: [NDJSONWriter(to: output, source: "test", tool: "test")])
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let start = Timestamp(seconds: 1_000, nanoseconds: 0)
        let connection = decoder.open(Opening(number: 1, time: start, client: end, server: end))
        for (index, (seconds, direction, bytes)) in chunks.enumerated() {
            let time = start + .seconds(seconds)
            decoder.advance(to: time)
            if bytes.isEmpty {
                connection.missing(4, from: direction, at: time)
            } else {
                connection.received(bytes.span.bytes, from: direction, at: time, packet: index + 1)
            }
        }
        let time = start + .seconds(closed)
        decoder.advance(to: time)
        connection.closed(Closing(reason: .fin, by: .fromClient, time: time))
        decoder.finish()
        decoder.flush()
        return try traceLines(output.text)
    }

    private func findings(_ lines: [TraceLine]) -> [String] {
        lines.filter { $0.event == "finding" }.map { "\($0["kind"] ?? "?"): \($0["message"] ?? "?")" }
    }

    /// Of the two reasons why a line cannot begin with some bytes, the one that applies.
    @Test(arguments: [("FOO a 1\n", "begins with PUB, SUB"), ("SUB\u{1} a\n", "begins with PUB, SUB")])
    func aLineSaysWhatItBeginsWith(line: String, reason: String) throws {
        let yaml = "header: [{ words: [{ verb: [PUB, SUB] }, a, b], ends: \"\\n\" }]\nframing: { rule: fields }"
        let lines = try trace(yaml, [(0, .fromClient, Array(line.utf8))])
        let details = lines.filter { $0.event == "unframed" }.map(\.text)
        #expect(details.contains { $0.contains("a line of verb a b \(reason)") }, "\(details)")
    }

    // MARK: Sequences

    @Test(arguments: [
        ([1, 2, 3], []), ([254, 255, 0, 1], []), ([0x61], []),
        ([1, 2, 5], ["sequence-gap: sequence gap: 5 follows 2, 2 numbers left out"]),
        ([254, 1], ["sequence-gap: sequence gap: 1 follows 254, 2 numbers left out"]),
        ([1, 2, 2, 3], ["sequence-repeat: sequence repeat: 2 follows 2, expected 3"]),
        ([9, 3, 4], ["sequence-repeat: sequence repeat: 3 follows 9, expected 10"]),
    ])
    func numbersGoOn(_ numbers: [UInt8], _ expected: [String]) throws {
        let yaml = "header: [{ n: u8 }]\nframing: { rule: fixed, size: 1 }\nsequence: { value: fields.n, from: client }"
        let chunks = numbers.enumerated().map { (Double($0), Direction.fromClient, [$1]) }
        // The server's numbers do not matter.
        #expect(findings(try trace(yaml, chunks + [(9, .fromServer, [1, 1, 7])])) == expected)
    }

    @Test func afterAGapANumberIsTakenAsItIs() throws {
        let yaml = "header: [{ n: u8 }]\nframing: { rule: fixed, size: 1 }\nsequence: { value: n, step: 1 }"
        let lines = try trace(yaml, [(0, .fromClient, [1, 2]), (1, .fromClient, []), (2, .fromClient, [7, 8])])
        #expect(findings(lines) == [])
    }

    @Test func aStepAndAModulusOfTheirOwn() throws {
        let yaml = """
            framing: { rule: delimiter, end: ";" }
            body: json
            sequence: { value: body.id, step: 2, modulus: 10 }
            """
        let text = #"{"id":6};{"id":8};{"id":0};{"id":4};{"x":1};{"id":6};"#
        let lines = try trace(yaml, [(0, .fromServer, Array(text.utf8))])
        #expect(findings(lines) == ["sequence-gap: sequence gap: 4 follows 0, 1 number left out"])
    }

    // MARK: Heartbeats

    private static let keepAlive = """
        framing: { rule: delimiter, end: ";" }
        body: text
        frame: { type: [{ when: body.text startsWith "hello", is: hello }, { when: body.text == "ping", is: ping }, { is: data }] }
        """

    @Test func anyFrameMayBeASignOfLife() throws {
        func found(_ more: String) throws -> [String] {
            let yaml =
                Self.keepAlive + "\nheartbeat: { when: type == \"ping\", from: client, every: 5 s, gap: 12 s\(more) }"
            let chunks = [0.0, 4, 8, 12, 16, 20].enumerated().map { index, time in
                (time, Direction.fromClient, Array((index == 0 ? "ping;" : "data;").utf8))
            }
            return findings(try trace(yaml, chunks, closed: 24)).map { String($0.prefix { $0 != ":" }) }
        }
        #expect(try found("") == ["heartbeat-gap", "traffic-without-heartbeats", "heartbeat-stopped"])
        #expect(try found(", counts: frames") == [])
    }

    @Test func aFrameMaySayHowOftenTheyCome() throws {
        let yaml =
            "header: [{ kind: u8 }, { interval: u8 }]\nframing: { rule: fixed, size: 2 }\n" + """
                frame: { type: [{ when: fields.kind == 1, is: connect }, { is: ping }] }
                heartbeat:
                  when: type == "ping"
                  from: client
                  every: 60 s
                  gap: 90 s
                  announced: { when: type == "connect", value: fields.interval, gap: 1.5 }
                """
        func found(_ interval: UInt8) throws -> [String] {
            let pings = [3.0, 6, 20].map { ($0, Direction.fromClient, [UInt8(2), 0]) }
            return findings(try trace(yaml, [(1, .fromClient, [1, interval])] + pings, closed: 21))
                .map { String($0.prefix { $0 != "," }) }
        }
        // Every 4 s, and 14 s were silent.
        #expect(try found(4).first == "heartbeat-gap: heartbeat gap: 6.0 s since ping")
        // Every 30 s.
        #expect(try found(30) == [])
        // None at all.
        #expect(try found(0) == [])
    }

    /// Bytes are decimal digits: `12 00` is 1,200 s, and `1e05` is no number; more than an `Int` has room for are none, either.
    @Test(
        arguments: [
            ([0x12, 0x00], false), ([0x00, 0x04], true), ([0x1e, 0x05], true), ([0xff, 0xff], true),
            ([UInt8](repeating: 0, count: 9) + [0x04, 0x00], false), ([UInt8](repeating: 0, count: 10) + [0x04], true),
            ([UInt8](repeating: 1, count: 11), true), ([UInt8](repeating: 0x99, count: 9), false),
        ] as [([UInt8], Bool)])
    func theyMaySayItInDigits(interval: [UInt8], isGap: Bool) throws {
        let size = interval.count
        let yaml =
            "header: [{ kind: u8 }, { interval: { type: bytes, size: \(size) } }]\nframing: { rule: fixed, size: \(size + 1) }\n"
                + """
                frame: { type: [{ when: fields.kind == 1, is: connect }, { is: ping }] }
                heartbeat:
                  when: type == "ping"
                  from: client
                  every: 4 s
                  gap: 6 s
                  announced: { when: type == "connect", value: fields.interval, gap: 1.5 }
                """
        let pings = [3.0, 6, 20].map { ($0, Direction.fromClient, [2] + [UInt8](repeating: 0, count: size)) }
        let found = findings(try trace(yaml, [(1, .fromClient, [1] + interval)] + pings, closed: 21))
        #expect(found.contains { $0.hasPrefix("heartbeat-gap") } == isGap, "\(found)")
    }

    // MARK: Bodies

    @Test func bodiesGoByConditionsAndKinds() throws {
        let yaml = """
            framing: { rule: length-field, field: length }
            body:
              cases: [{ when: flags == 1, as: [{ xor: { key: 0x0f } }, text] }]
              else: text
            oneOf:
              - { name: own, header: [{ mark: { type: u8, equals: 9 } }, { length: u8 }], body: { fields: [{ a: u8 }, { rest: { type: string, size: rest } }] } }
              - { name: other, header: [{ flags: u8 }, { length: u8 }] }
            """
        let lines = try trace(yaml, [(0, .fromClient, [0, 2, 0x61, 0x62, 1, 2, 0x6e, 0x6d, 9, 3, 7, 0x78, 0x79])])
        let bodies = lines.filter { $0.event == "frame" }.map {
            $0.text.components(separatedBy: "\"body\":").last ?? ""
        }
        #expect(
            bodies == [
                #"{"length":2,"text":"ab"}}"#, #"{"length":2,"text":"ab"}}"#,
                #"{"length":3,"fields":{"a":7,"rest":"xy"}}}"#,
            ])
    }

    @Test func blocksHaveChecks() throws {
        let yaml = """
            framing: { rule: length-field, field: length }
            header: [{ length: u8 }]
            body: [{ blocks: { size: 2, checksum: sum8, width: 1 } }, text]
            """
        let lines = try trace(yaml, [(0, .fromClient, [5, 0x61, 0x62, 0xc3, 0x63, 0x63, 3, 0x61, 0x62, 0xc4])])
        let bodies = lines.filter { $0.event == "frame" }.map {
            $0.text.components(separatedBy: "\"body\":").last ?? ""
        }
        #expect(bodies == [#"{"length":5,"text":"abc"}}"#, #"{"length":3,"hex":"6162c4"}}"#])
        #expect(
            findings(lines) == [
                "bad-body: the body of frame 1: blocks: the checksum of the block at byte 0 is 0xc4, expected 0xc3"
            ])
    }

    @Test func framesAreInsideBodies() throws {
        let yaml = """
            framing: { rule: length-field, field: length }
            header: [{ length: u8 }]
            body: { format: { name: inner } }
            formats:
              inner:
                header: [{ kind: { type: u8, names: { 1: one } } }, { size: u8 }]
                framing: { rule: length-field, field: size }
                frame: { type: kind }
                body: text
            """
        let bytes: [UInt8] = [8, 1, 1, 0x61, 2, 2, 0x62, 0x63, 0xff]
        let lines = try trace(yaml, [(0, .fromClient, bytes)])
        let frame = try #require(lines.first { $0.event == "frame" })
        #expect(
            frame.text.hasSuffix(
                #""body":{"length":8,"json":[{"type":"one","fields":{"kind":1,"size":1},"body":{"text":"a"}},{"type":"2","fields":{"kind":2,"size":2},"body":{"text":"bc"}},{"unframed":"ff"}]}}"#
            ), "\(frame.text)")
        let format = try FormatLoader.load("format: mine\n" + yaml, file: "mine.yaml")
        let line = try #require(try FrameLine(parsing: Array(frame.text.utf8).span.bytes))
        #expect(try format.encode(line, from: .fromClient) == bytes)
    }

    // MARK: Families

    @Test func aFormatExtendsAnother() throws {
        let family = """
            format: family
            names: { types: { 1: login } }
            header: [{ type: { type: u8, names: types } }, { length: u8 }]
            framing: { rule: length-field, field: length }
            frame: { type: type }
            body: text
            """
        let own = "extends: family.yaml\nnames: { types: { 1: logon, 2: order } }\nbody: hex"
        let chunks: [(Double, Direction, [UInt8])] = [(0, .fromClient, [1, 1, 0x61, 2, 0])]
        let lines = try trace(own, chunks) { $0 == "family.yaml" ? family : nil }
        #expect(lines.filter { $0.event == "frame" }.map { $0["type"] } == ["logon", "order"])
        #expect(lines.contains { $0.text.contains(#""hex":"61""#) })
        #expect(throws: FormatFileError.self) { try trace("extends: other.yaml", chunks) { _ in nil } }
        // In a circle.
        #expect(throws: FormatFileError.self) {
            try trace("extends: a.yaml", chunks) { _ in "extends: a.yaml\nformat: a" }
        }
        // An example can be extended, too.
        #expect(throws: Never.self) { try trace("extends: example:redis\nports: [7000]", []) }
    }

    // MARK: Secrets

    @Test func secretsInHeaderLinesStayHidden() throws {
        let text = "GET / HTTP/1.1\r\nAuthorization: Basic c2VjcmV0\r\nHost:odd\r\n\r\n"
        let yaml = try #require(ExampleFormats.yaml(of: "http"))
        let lines = try trace(yaml.replacing("format: http", with: ""), [(0, .fromClient, Array(text.utf8))])
        let frame = try #require(lines.first { $0.event == "frame" }).text
        // Not in the header as it came either, which "Host:odd" would otherwise show.
        #expect(
            !frame.contains("c2VjcmV0") && !frame.contains("633256")
                && frame.contains("\"Authorization\":\"«secret»\""), "\(frame)")
        #expect(frame.contains(#""raw":"«secret»""#))
    }
}
