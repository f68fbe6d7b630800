import Streams
import Testing

@testable import Framing

/// The quick check of a structure's start rules out no frame, and nearly everything that is none.
@Suite struct StructureStartTests {
    private static func format(_ yaml: String) throws -> Format {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml")
    }

    /// Headers that begin with each kind of item.
    private static let headers = [
        #"- { words: [method, target, { version: [HTTP/1.1, HTTP/1.0] }], ends: ["\r\n", "\n"] }"#,
        #"- { words: [{ verb: [get, K] }, { size: decimal }], ends: "\r\n", ignoreCase: true }"#,
        #"- { words: [verb, "reply?", { size: decimal }], ends: "\n" }"#,
        #"- { words: [{ verb: [MSG] }, "text*"], ends: "\n" }"#,
        #"- { words: [start, "words+"], ends: "\n" }"#,
        #"- { command: { type: string, ends: "\n", limit: 8 B } }"#,
        #"- { command: { type: string, ends: "\n", equals: [SEND, ACK] } }"#,
        #"- { name: { type: string, ends: " ", quoted: true } }"#,
        #"- { first: { type: u8, bits: { 7: fin, 4-6: { name: reserved, equals: 0 }, 0-3: code } } }"#,
        #"- { kind: { type: u8, equals: [1..4, 10, 65] } }"#,
        #"- { offset: { type: i16, equals: [-5, 3..700] } }"#,
        #"- { magic: { type: u16, equals: 0x4142 } }"#,
        #"- { id: varint }"#,
        #"- { marker: { type: string, size: 2 } }"#,
        #"- { words: [a], ends: ";", limit: 4 B }"#,
        #"- { first: { lines: ": ", ends: "\n" } }"#,
        #"- { magic: { type: u32, equals: 0x41424344 } }"#,
        #"- "AB""#,
        "- oneOf: [[\"A\", { number: u8 }], [{ kind: { type: u8, equals: [66, 67] } }], [{ words: [x], ends: \"\\n\" }]]",
    ]

    /// Rules of the examples, and of the headers above before another item.
    private static func rules() throws -> [(name: String, rule: Structured)] {
        var rules: [(String, Structured)] = []
        for format in try BuiltInFormats.all() + ExampleFormats.recognised() {
            for direction in Direction.allCases {
                for layout in format.directions[direction].layouts {
                    if let rule = layout.rule as? Structured { rules.append((format.name, rule)) }
                }
            }
        }
        for header in headers {
            for (tail, isFirst) in [
                (#"- { lines: { lines: ": ", ends: ["\r\n", "\n"] } }"#, false), ("- last: u8", false),
                ("- { flag: u8 }", true),
            ] {
                let items = isFirst ? [tail, header] : [header, tail]
                let yaml = "header:\n" + items.map { "  \($0)\n" }.joined() + "framing: { rule: fields }\n"
                let format = try format(yaml)
                let rule = try #require(format.directions.fromClient.layouts.first?.rule as? Structured)
                rules.append((yaml, rule))
            }
        }
        return rules
    }

    /// Text and bytes that look like the beginnings of frames.
    private static func stream(_ generator: inout SeededGenerator) -> [UInt8] {
        let pieces = [
            "GET / HTTP/1.1\r\n", "get 5\r\n", "\u{212a} 12\r\n", "MSG a  b\n", "K 007\r\n", "a b 10\n", "SEND\n",
            "ACK\n", "name: value\r\n",
            " folded\r\n", ": none\r\n", "\r\n", "\n", "AB", "A", "\u{1}", "\u{2}\u{3}", "\u{80}", " ", "\t",
            "HTTP/1.0 \r\n", "\"q \" ",
            "-5 x", "ab;", "abcde;", "AAB", "long line without an end, that goes on and on",
        ]
        var bytes: [UInt8] = []
        for _ in 0..<Int.random(in: 1...24, using: &generator) {
            if Int.random(in: 0...3, using: &generator) == 0 {
                bytes.append(.random(in: 0...255, using: &generator))
            } else {
                bytes += Array(pieces.randomElement(using: &generator)?.utf8 ?? "".utf8)
            }
        }
        return bytes
    }

    /// Whether a walk calls a place bad, and does not wait for more bytes.
    private static func isBad(_ rule: Structured, _ bytes: [UInt8], at place: Int) -> Bool {
        var memory = ScanMemory()
        let scan = rule.scan(bytes.span.bytes, from: place, origin: 0, ended: false, memory: &memory)
        return if case .bad = scan { true } else { false }
    }

    private static func hasFrame(_ rule: Structured, _ bytes: [UInt8], at place: Int) -> Bool {
        var memory = ScanMemory()
        switch rule.scan(bytes.span.bytes, from: place, origin: 0, ended: true, memory: &memory) {
        case .shape: return true
        case .incomplete, .bad, .padding: return false
        }
    }

    @Test func noFrameIsRuledOut() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let rules = try Self.rules()
        var (frames, ruledOut) = (0, 0)
        for _ in 0..<50 {
            let bytes = Self.stream(&generator)
            for (name, rule) in rules {
                for place in bytes.indices {
                    // What is ruled out by some of the bytes is no frame, whatever follows.
                    let known = Int.random(in: place + 1...bytes.count, using: &generator)
                    let isOut = !rule.startCheck.mayFit(bytes.span.bytes.extracting(0..<known), at: place)
                    ruledOut += isOut ? 1 : 0
                    if isOut {
                        let isBad = Self.isBad(rule, Array(bytes[..<known]), at: place)
                        #expect(isBad, "\(name): \(place) of \(bytes), \(known) known, seed \(seed)")
                    }
                    guard Self.hasFrame(rule, bytes, at: place) else { continue }
                    frames += 1
                    #expect(!isOut, "\(name): \(place) of \(bytes), \(known) known, seed \(seed)")
                }
            }
        }
        #expect(frames > 300 && ruledOut > frames, "\(frames) frames, \(ruledOut) ruled out")
    }

    /// Other text and bytes are ruled out without a walk.
    @Test(arguments: ["http", "rtsp", "sip"]) func mostPlacesAreRuledOut(name: String) throws {
        var generator = SeededGenerator(seed: 7)
        let words = ["var", "text", "=", "width:", "100%;", "<div", "class='a'>", "10", "HTTP", "GET", "200"]
        var bytes: [UInt8] = []
        while bytes.count < 20_000 {
            bytes += Array((words.randomElement(using: &generator) ?? "").utf8)
            bytes += Int.random(in: 0...6, using: &generator) == 0 ? [0x0d, 0x0a] : [0x20]
        }
        let format = try #require(try ExampleFormats.recognised().first { $0.name == "example:\(name)" })
        let rules = format.directions.fromClient.layouts.compactMap { $0.rule as? Structured }
        #expect(!rules.isEmpty)
        for rule in rules {
            let out = bytes.indices.count { !rule.mayStart(bytes.span.bytes, at: $0) }
            #expect(20 * out >= 19 * bytes.count, "\(out) of \(bytes.count)")
        }
    }

    /// Kinds of frames share what is remembered: one of them does not refer to the values of its lines.
    @Test func otherKindsRememberTheirOwn() throws {
        let format = try Self.format(
            """
            oneOf:
              - { header: [{ words: [a, b], ends: "\\n" }, { headers: { lines: ":", ends: "\\n" } }], framing: { rule: fields } }
              - header: [{ words: [a], ends: "\\n" }, { headers: { lines: ":", ends: "\\n" } }]
                framing: { rule: fields, body: 'headers["size"]' }
            """)
        let layouts = format.directions.fromClient.layouts.compactMap { $0.rule as? Structured }
        let (both, one) = (try #require(layouts.first), try #require(layouts.last))
        let conversation = Conversation()
        let bytes = Array("hello world\nsize:3\n\nabc".utf8)
        var memory = ScanMemory()
        memory.search = .first
        for (rule, place) in [(both, 0), (one, 6)] {
            let bound = rule.bound(to: conversation, .fromClient) ?? rule
            let scan = bound.scan(bytes.span.bytes, from: place, origin: 0, ended: true, memory: &memory)
            guard case .shape(let shape) = scan else {
                Issue.record("no frame at \(place): \(scan)")
                continue
            }
            #expect(shape.body == (place == 0 ? 0 : 3))
        }
    }

    /// Lines that a search remembers are those that are there.
    @Test func rememberedLinesChangeNothing() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let format = try Self.format(
            """
            header:
              - { command: { type: string, ends: ["\\r\\n", "\\n"], limit: 64 B } }
              - { headers: { lines: ":", ends: ["\\r\\n", "\\n"] } }
            framing: { rule: fields, body: [{ when: 'headers["size"] exists', size: 'headers["size"]' }, { until: "\\0" }], ends: "\\0" }
            """)
        let rule = format.directions.fromClient.rule
        let pieces = [
            "SEND\n", "a:1\n", "size:3\n", "size:2\n", "\n", "abc\0", "\0", "x", "two words\n", "\r\n", ":\n",
        ]
        var frames = 0
        for _ in 0..<300 {
            var bytes: [UInt8] = []
            for _ in 0..<Int.random(in: 2...40, using: &generator) {
                bytes += Array((pieces.randomElement(using: &generator) ?? "").utf8)
            }
            let remembering = frame([.bytes(bytes)], with: rule, aligned: false).log.results
            let (log, scratch) = (FramedLog(), FramingScratch())
            var framer = Framer(SharedRule.of(rule), direction: .fromClient, aligned: false)
            framer.receive(
                bytes.span.bytes, at: Timestamp(seconds: 1, nanoseconds: 0), packet: 1, scratch: scratch, into: log)
            framer.finish(scratch: scratch, into: log)
            #expect(remembering == log.results, "\(bytes), seed \(seed)")
            frames += log.frames.count
        }
        #expect(frames > 100)
    }

    /// Early decisions do not depend on how a stream is cut.
    @Test func cuttingDoesNotMatter() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let rules = try Self.rules()
        for _ in 0..<60 {
            let bytes = Self.stream(&generator)
            guard let (_, rule) = rules.randomElement(using: &generator) else { continue }
            expectCuttingDoesNotMatter(bytes, rule: rule, aligned: false, seed: seed, everyPosition: false)
        }
    }
}
