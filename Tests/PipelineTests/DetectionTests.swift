import Foundation
import Framing
@testable import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// The evidence by which formats are recognised, and data that must not be recognised.
@Suite struct DetectionTests {
    private let formats: [Format]

    init() throws {
        formats = try BuiltInFormats.allWithVariants()
    }

    /// The recognised format of a conversation, and the evidence.
    private func recognised(_ conversation: Conversation) throws -> (format: String?, evidence: String?) {
        let lines = try conversation.decode(DecodingOptions(.automatic(formats))).lines
        let line = lines.first { $0.event == "format" }
        return (line?["format"], line?["evidence"])
    }

    private func talk(_ pieces: (Direction, String)...) -> Conversation {
        var talk = Conversation([])
        talk.pieces = pieces.map { Conversation.Piece(direction: $0.0, bytes: Array($0.1.utf8)) }
        return talk
    }

    /// A packet that is lost while the first frames are sent does not keep the rest from being recognised.
    @Test(arguments: [0, 1]) func whatIsMissingInTheFirstFramesRefutesNothing(frames: Int) throws {
        let streams: [String: (Int) -> [UInt8]] = [
            "line": { Array("line number \($0) is here\n".utf8) },
            "json-envelope": { Array(#"{"head":"phoneNum","body":13133334444,"end":\#($0)}"#.utf8) },
            "len16-id": { [0, 14, 0, 3, 0, 0x0a, 9] + Array("number \(10 + $0 % 90)".utf8) },
        ]
        for (name, frame) in streams {
            let decoder = Decoder(DecodingOptions(.automatic(formats)), sinks: [])
            let zero = Timestamp(nanoseconds: 0)
            let connection = decoder.open(
                Opening(
                    number: 1, time: zero, client: Endpoint(IPAddress(v4: 1), 1), server: Endpoint(IPAddress(v4: 2), 2))
            )
            let stream = (0..<60).flatMap(frame)
            // From within the first frame to within the first or the second one.
            let (start, end) = (frame(0).count / 2, frame(0).count * (3 + 4 * frames) / 4)
            let first = Array(stream[..<start])
            connection.received(first.span.bytes, from: .fromClient, at: zero, packet: 1)
            connection.missing(end - start, from: .fromClient, at: zero)
            for at in stride(from: end, to: stream.count, by: 100) {
                let piece = Array(stream[at..<min(at + 100, stream.count)])
                connection.received(piece.span.bytes, from: .fromClient, at: zero, packet: 2)
            }
            connection.closed(Closing(reason: .fin, by: .fromClient, time: zero))
            decoder.finish()
            #expect((58...60).contains(decoder.summary.formats[name]?.bytes.frames ?? 0), "\(name)")
        }
    }

    // MARK: Sleep

    /// Streams of all kinds, segmented arbitrarily: a detection that is put to sleep now and then decides like one that never is.
    @Test func sleepDoesNotChangeWhatIsRecognised() throws {
        for seed in UInt64(1)...40 {
            var generator = SeededGenerator(seed: seed)
            let client = stream(using: &generator)
            let server = stream(using: &generator)
            let aligned = Bool.random(using: &generator)
            func run(sleeping: Bool, _ generator: inout SeededGenerator) -> String {
                let detection = Detection(formats.compactMap { TrialPlan($0) }, aligned: aligned, limit: 8_192, port: 1)
                var rest = PerDirection(fromClient: client[...], fromServer: server[...])
                let zero = Streams.Timestamp(nanoseconds: 0)
                func text(_ choice: Detection.Choice?) -> String? {
                    choice.map { "\($0.0.format.name): \($0.1.evidence)" }
                }
                // The order of the two sides is the same each time: their first bytes, then the rest.
                for direction in Direction.allCases {
                    while let first = rest[direction].first {
                        let count = Int.random(in: 1...700, using: &generator)
                        let bytes =
                            direction == .fromClient && !sleeping ? [first] : Array(rest[direction].prefix(count))
                        rest[direction] = rest[direction].dropFirst(bytes.count)
                        if sleeping, Bool.random(using: &generator) { detection.sleep() }
                        if let choice = text(detection.receive(bytes.span.bytes, from: direction, at: zero, packet: 0))
                        {
                            return choice
                        }
                        if detection.isExhausted { return text(detection.conclude()) ?? "none" }
                    }
                    if sleeping, Bool.random(using: &generator) { detection.sleep() }
                    if let choice = text(detection.finished(.fin, from: direction, at: zero)) { return choice }
                }
                return text(detection.conclude()) ?? "none"
            }
            let awake = run(sleeping: false, &generator)
            // A packet's payload is a message of text-heartbeat: that alone depends on segmentation.
            guard !awake.hasPrefix("text-heartbeat") else { continue }
            for _ in 0..<4 { #expect(run(sleeping: true, &generator) == awake, "seed \(seed)") }
        }
    }

    // MARK: Formats that have to wait

    /// A format whose trial begins late is judged as if it had been on trial from the start: the same is recognised, with the same
    /// chunk or gap.
    @Test(arguments: [false, true]) func lateTrialsChangeNothing(withExamples: Bool) throws {
        let formats = formats + (withExamples ? try ExampleFormats.recognised() : [])
        let plans = formats.compactMap { TrialPlan($0) }
        var late = 0
        for _ in 0..<(withExamples ? 8 : 40) {
            let seed = UInt64.random(in: 0...UInt64.max)
            func run(defers: Bool) -> (choice: String, trials: Int) {
                var generator = SeededGenerator(seed: seed)
                var rest = PerDirection(fromClient: [UInt8](), fromServer: [UInt8]())
                for direction in Direction.allCases {
                    // Another kind may follow, and a byte may be wrong.
                    rest[direction] = stream(using: &generator)
                    if Int.random(in: 0..<3, using: &generator) == 0 { rest[direction] += stream(using: &generator) }
                    if Bool.random(using: &generator), !rest[direction].isEmpty {
                        let place = Int.random(in: 0..<min(rest[direction].count, 300), using: &generator)
                        rest[direction][place] = .random(in: 0...255, using: &generator)
                    }
                }
                let detection = Detection(
                    plans, aligned: Bool.random(using: &generator), limit: 4_096, port: 1, defers: defers)
                let longest = [1, 30, 900].randomElement(using: &generator) ?? 1
                let zero = Streams.Timestamp(nanoseconds: 0)
                var (events, trials) = (0, 0)
                func text(_ choice: Detection.Choice?) -> String? {
                    choice.map { "\($0.0.format.name): \($0.1.evidence) after \(events)" }
                }
                while !rest.fromClient.isEmpty || !rest.fromServer.isEmpty {
                    let direction: Direction = Bool.random(using: &generator) ? .fromClient : .fromServer
                    let count = min(rest[direction].count, Int.random(in: 1...longest, using: &generator))
                    let bytes = Array(rest[direction].prefix(count))
                    rest[direction].removeFirst(count)
                    events += 1
                    if bytes.isEmpty { continue }
                    let choice =
                        Int.random(in: 0..<60, using: &generator) == 0
                        ? detection.missing(count, from: direction, at: zero)
                        : detection.receive(bytes.span.bytes, from: direction, at: zero, packet: 0)
                    trials = max(trials, detection.deferred.count)
                    if let text = text(choice) { return (text, trials) }
                    if detection.isExhausted { return (text(detection.conclude()) ?? "none", trials) }
                }
                for direction in Direction.allCases {
                    if let text = text(detection.finished(.fin, from: direction, at: zero)) { return (text, trials) }
                }
                return (text(detection.conclude()) ?? "none", trials)
            }
            let (expected, none) = run(defers: false)
            let (found, deferred) = run(defers: true)
            #expect(found == expected, "seed \(seed)")
            #expect(none == 0)
            if deferred > 0 { late += 1 }
        }
        #expect(late > 2)
    }

    /// Bytes that waited for the next position rule out the format that others have to wait for, before the other side's next bytes are
    /// looked at.
    @Test(arguments: [false, true]) func waitingBytesEndTheWait(defers: Bool) throws {
        let detection = Detection(
            formats.compactMap { TrialPlan($0) }, aligned: true, limit: 8_192, port: 1, defers: defers)
        let zero = Streams.Timestamp(nanoseconds: 0)
        func receive(_ text: String, _ direction: Direction) -> String? {
            let bytes = Array(text.utf8)
            return detection.receive(bytes.span.bytes, from: direction, at: zero, packet: 0)?.0.format.name
        }
        let objects = String(repeating: "{\"x\":1}\n", count: 37)
        #expect(receive("{\"a\":1}\n", .fromServer) == nil)
        #expect(receive(objects + "{}\r\n", .fromClient) == nil)
        #expect(receive("{\"a\":2}\nx", .fromServer) == "json-envelope")
    }

    private func stream(using generator: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        let kind = Int.random(in: 0..<8, using: &generator)
        for index in 0..<Int.random(in: 0...40, using: &generator) {
            switch kind {
            case 0: bytes += generator.bytes(Int.random(in: 1...300, using: &generator))
            case 1: bytes += Array("{\"a\":\(index),\"b\":[1,{\"c\":\"}\"}]}".utf8)
            case 2: bytes += Array("line \(index)\r\n".utf8)
            case 3: bytes += [0, 7, 0, 3, 0, 8, 1, 16, UInt8(index)]
            case 4: bytes += [12, 0, 0, 0, 2, 0, 0, 0, 65, 66, 67, 68]
            case 5: bytes += [7, 0, 3, 0, 0, 8, 1, 16, UInt8(index)]
            case 6: bytes += Array("{\"size\":\"3\"}\r\nabc".utf8)
            default: bytes += Array("abtext\(index)".utf8)
            }
        }
        return bytes
    }

    /// More connections than may be on trial at once, all with the same bytes: all are recognised alike.
    @Test func ofManyConnectionsEachIsRecognised() throws {
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.automatic(formats)), sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 0)])
        let loopback = IPAddress(v4: 0x7f00_0001)
        let time = Timestamp(seconds: 1, nanoseconds: 0)
        let open = (1...1_500).map {
            decoder.open(
                Opening(number: $0, time: time, client: Endpoint(loopback, UInt16($0)), server: Endpoint(loopback, 9)))
        }
        let head = Array("{\"size\":\"3\"}\r\nab".utf8)
        for place in head.indices {
            let byte = [head[place]]
            for connection in open { connection.received(byte.span.bytes, from: .fromClient, at: time, packet: 0) }
        }
        for connection in open { connection.closed(Closing(reason: .endOfInput, by: nil, time: time)) }
        decoder.finish()
        decoder.flush()
        let lines = try traceLines(output.text).filter { $0.event == "format" }
        #expect(lines.count == 1_500 && lines.allSatisfy { $0["format"] == "im-json" })
    }

    // MARK: Other data

    /// Captures of other protocols, picked up mid-stream.
    @Test(arguments: [("443-chrome", ["tls"]), ("jabber", [])])
    func whatIsForeignIsNotClaimed(_ name: String, _ known: [String]) throws {
        let named = try lines(in: name).filter { $0.event == "format" }
        #expect(named.map { $0["format"] } == known, "\(named.map(\.text))")
    }

    private func lines(in name: String) throws -> [TraceLine] {
        let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "fixtures/detection/\(name).pcap")
        let bytes = [UInt8](try Data(contentsOf: fixtures))
        return try traceLines(DecodedCapture(bytes, options: DecodingOptions(.automatic(formats))).ndjson)
    }

    /// Arbitrary bytes that contain brackets, markers and numbers.
    @Test func noiseInTheMiddleIsNoFormat() throws {
        for seed in UInt64(1)...60 {
            var generator = SeededGenerator(seed: seed)
            var talk = Conversation([])
            talk.handshake = false
            talk.pieces = []
            let alphabet = Array("{}[]\"ab:,\n 12\0\0\0\u{1}\u{2}<>=".utf8)
            for _ in 0..<20 {
                let bytes = (0..<Int.random(in: 1...600, using: &generator)).map { _ in
                    Bool.random(using: &generator)
                        ? alphabet.randomElement(using: &generator) ?? 0 : UInt8.random(in: 0...255, using: &generator)
                }
                talk.pieces.append(
                    Conversation.Piece(
                        direction: Bool.random(using: &generator) ? .fromClient : .fromServer, bytes: bytes))
            }
            let format = try recognised(talk).format
            #expect(format == nil, "seed \(seed)")
        }
    }

    @Test func bracketsThatBalanceAreNoJSON() throws {
        #expect(try recognised(talk((.fromClient, "{a}{b}{c}{d}"))).format == nil)
        #expect(try recognised(talk((.fromClient, "[1][2]"))).format == nil, "arrays are no objects")
        #expect(try recognised(talk((.fromClient, "{\"a\":1}{\"b\":2}"))).format == "json-envelope")
    }

    // MARK: Formats

    /// The SYN was not captured, or is recorded after its answer.
    @Test(arguments: ["off_order_ok-0-ln", "syn_not_seen-2-ln"]) func aStreamWithoutItsSYNIsWhole(_ name: String) throws
    {
        let lines = try lines(in: name)
        #expect(lines.filter { $0.event == "opened" }.allSatisfy { $0.text.contains(#""handshake":true"#) })
        #expect(lines.filter { $0.event == "unframed" }.isEmpty)
        #expect(lines.contains { $0["format"] == "json-envelope" })
    }

    @Test func heartbeatsAfterAMessageAreRecognised() throws {
        var conversation = talk((.fromClient, "hello there"))
        for _ in 0..<2 { conversation.pieces.append(talk((.fromClient, "12310.300000")).pieces[0]) }
        #expect(try recognised(conversation).format != "text-heartbeat", "two may be anything")
        for _ in 0..<7 { conversation.pieces.append(talk((.fromClient, "12310.300000")).pieces[0]) }
        let (format, evidence) = try recognised(conversation)
        #expect(format == "text-heartbeat")
        #expect(evidence == "the client sends heartbeats like 12310.300000 among other text")
    }

    @Test func heartbeatsFromTheFirstByteOnAreRecognised() throws {
        let named = try lines(in: "lone-txt-2.5").filter { $0.event == "format" }.map(\.text)
        #expect(named.count == 1 && named[0].contains("nothing but heartbeats"), "\(named)")
    }

    @Test func oneObjectOrLineAloneIsRecognised() throws {
        let object = try recognised(
            talk((.fromClient, "{\"head\":\"phoneNum\",\"end\":11}"), (.fromServer, "{\"ok\":1}")))
        #expect(object == ("json-envelope", "nothing but one JSON object"))
        let line = try recognised(talk((.fromClient, "hello\r\n")))
        #expect(line == ("line", "nothing but one line of text"))
        #expect(try recognised(talk((.fromClient, "{\"a\":1} trailing"))).format == nil)
        #expect(try recognised(talk((.fromClient, "hello\n"), (.fromServer, "\u{1}\u{2}\u{3}"))).format == nil)
    }

    /// An object of several lines is one object, however it is cut, and not lines of text.
    @Test func anIndentedObjectIsNoLines() throws {
        let object = "{\n  \"head\": \"phoneNum\",\n  \"body\": [\n    13133334444\n  ]\n}"
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for text in [object, object + "\n", "\r\n" + object + "\r\n\r\n"] {
            for whole in [talk((.fromClient, text)), talk((.fromClient, text), (.fromServer, text))] {
                for conversation in [whole, whole.cut(using: &generator)] {
                    let found = try recognised(conversation)
                    #expect(found == ("json-envelope", "nothing but one JSON object"), "\(text), seed \(seed)")
                }
            }
        }
        // Whatever is no object beside it, or only the beginning of one, leaves it to the lines.
        #expect(try recognised(talk((.fromClient, object + "\n{\nx\n"))).format == "line")
        #expect(try recognised(talk((.fromClient, object + "\n"), (.fromServer, "one\ntwo\n"))).format == "line")
    }

    /// Both byte orders are tried, on connections side by side, and each is framed by its own.
    @Test func theOtherByteOrderIsRecognisedToo() throws {
        let output = MemoryOutput()
        let decoder = Decoder(
            DecodingOptions(.automatic(formats)), sinks: [NDJSONWriter(to: output, source: "", tool: "")])
        let zero = Timestamp(nanoseconds: 0)
        for number in 1...4 {
            let connection = decoder.open(
                Opening(
                    number: number, time: zero, client: Endpoint(IPAddress(v4: 1), UInt16(number)),
                    server: Endpoint(IPAddress(v4: 2), 2)))
            for index in 0..<4 {
                let head: [UInt8] = number % 2 == 0 ? [7, 0, 3, 0, 0] : [0, 7, 0, 3, 0]
                let frame = head + [8, UInt8(index), 16, 1]
                connection.received(frame.span.bytes, from: .fromClient, at: zero, packet: index + 1)
            }
            connection.closed(Closing(reason: .fin, by: .fromClient, time: zero))
        }
        decoder.finish()
        decoder.flush()
        let lines = try traceLines(output.text)
        let evidence = "three frames with few ids chain"
        let found = lines.filter { $0.event == "format" }
        #expect(found.map { $0["format"] } == [String?](repeating: "len16-id", count: 4))
        #expect(
            found.map { $0["evidence"] } == [
                evidence, evidence + ", with byteOrder=little", evidence, evidence + ", with byteOrder=little",
            ])
        #expect(lines.filter { $0.event == "frame" && $0["type"] == "chat" }.count == 16)
        #expect(!lines.contains { $0.event == "unframed" })
    }

    /// The first upload is longer than the limit for recognition, or truncated.
    @Test(arguments: [200_000, 5_000, 8]) func anUploadThatIsNotCompleteIsRecognised(_ count: Int) throws {
        let total = 300_000
        let head = [UInt8(total & 255), UInt8(total >> 8 & 255), UInt8(total >> 16), 0, 1, 0, 0, 0]
        let bytes = head + (0..<count - 8).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let (format, evidence) = try recognised(Conversation(bytes))
        #expect(format == "tlv32")
        #expect(evidence == "a total length and a command from 1 to 4, whose frame is not complete")
        let other = head.prefix(4) + [9] + bytes.dropFirst(5)
        #expect(try recognised(Conversation(Array(other))).format == nil, "there is no command 9")
    }

    // MARK: Details of the beginning

    /// A ClientHello with a server name, ALPN and versions, in records of a few bytes each.
    @Test(arguments: [16_384, 40]) func aHelloIsReported(_ record: Int) throws {
        func vector(_ width: Int, _ bytes: [UInt8]) -> [UInt8] {
            (0..<width).reversed().map { UInt8(bytes.count >> (8 * $0) & 255) } + bytes
        }
        let name = vector(2, vector(2, [0] + vector(2, Array("chat.example".utf8))))
        let alpn = vector(2, vector(2, vector(1, Array("h2".utf8)) + vector(1, Array("http/1.1".utf8))))
        let versions = vector(2, vector(1, [0x1a, 0x1a, 3, 4, 3, 3]))
        let extensions = vector(2, [0, 0] + name + [0, 16] + alpn + [0, 43] + versions)
        let hello =
            [3, 3] + [UInt8](repeating: 5, count: 32) + [0] + vector(2, [0x13, 1]) + vector(1, [0]) + extensions
        var rest = ([1] + vector(3, hello))[...]
        var stream: [UInt8] = []
        while !rest.isEmpty {
            stream += [22, 3, 1] + vector(2, Array(rest.prefix(record)))
            rest = rest.dropFirst(record)
        }
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for conversation in [Conversation(stream), Conversation(stream).cut(using: &generator)] {
            let (format, evidence) = try recognised(conversation)
            #expect(format == "tls")
            #expect(
                evidence?.hasSuffix(
                    ": server name chat.example; ALPN h2, http/1.1; offers TLS 1.3, TLS 1.2") == true,
                "seed \(seed): \(evidence ?? "")")
        }
    }

    @Test func aRequestLineAndABannerAreReported() throws {
        let http = try recognised(talk((.fromClient, "GET /chat?room=1 HTTP/1.1\r\nHost: a\r\n\r\n")))
        #expect(http == ("http", "HTTP/1 request line (RFC 9112, section 3): GET /chat?room=1 HTTP/1.1"))
        let ssh = try recognised(talk((.fromServer, "SSH-2.0-OpenSSH_9.6 Debian\r\nmore")))
        #expect(ssh == ("ssh", "SSH identification string (RFC 4253, section 4.2): SSH-2.0-OpenSSH_9.6 Debian"))
        let cut = try recognised(talk((.fromServer, "SSH-2.0-Open")))
        #expect(cut == ("ssh", "SSH identification string (RFC 4253, section 4.2)"))
    }

    /// Text output has one line, not one for each 64 KiB.
    @Test func textHasOneLineForIt() throws {
        let output = MemoryOutput()
        let decoder = Decoder(DecodingOptions(.automatic(formats)), sinks: [TextWriter(to: output)])
        let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)
        Conversation(request + [UInt8](repeating: 7, count: 300_000)).play(to: decoder)
        decoder.flush()
        let lines = output.text.split(separator: "\n")
        #expect(lines.filter { $0.contains("⚠") }.isEmpty)
        #expect(lines.filter { $0.contains("ℹ") }.count == 1, "\(output.text)")
        #expect(lines.filter { $0.contains("ℹ") && $0.contains("GET / HTTP/1.1") }.count == 1, "\(output.text)")
    }
}
