import Foundation
import Framing
import Packets
import Pipeline
import Streams
import TLS
import TestSupport
import Testing
import Trace

/// Conversations that change to TLS in the middle, where their format says so.
@Suite struct TLSUpgradeTests {
    private static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
        .standardized

    private func format(_ path: String) throws -> Format {
        let text = try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
        return try FormatLoader.load(text, file: path)
    }

    private func keys() throws -> KeyLog {
        let text = Array(try Data(contentsOf: Self.root.appending(path: "fixtures/examples/postgresql-tls.keys")))
        var log = KeyLog()
        _ = log.add(text.span.bytes)
        return log
    }

    /// What each direction of the first connection sent: psql's protocol, recorded with a real server.
    private func chunks() throws -> [(bytes: [UInt8], direction: Direction)] {
        let capture = Array(try Data(contentsOf: Self.root.appending(path: "fixtures/examples/postgresql-tls.pcap")))
        let log = StreamEventLog()
        var decoder = CaptureDecoder(receiver: log)
        var parser = CaptureParser()
        _ = try parser.parse(capture.span.bytes, isLast: true, to: &decoder)
        decoder.finish()
        return log.events.compactMap { event in
            if case .received(1, let direction, let bytes, _, _) = event { (bytes, direction) } else { nil }
        }
    }

    /// Decodes chunks as one connection; returns its lines without times and segments.
    private func decode(
        _ chunks: [(bytes: [UInt8], direction: Direction)], _ format: Format, _ keys: KeyLog?
    ) -> [TraceLine] {
        var options = DecodingOptions(.fixed(format))
        options.tls?.keyLog = keys
        return decode(chunks, options)
    }

    /// - Parameter hasEnds: whether both directions end before the connection does.
    private func decode(
        _ chunks: [(bytes: [UInt8], direction: Direction)], _ options: DecodingOptions, hasEnds: Bool = true
    ) -> [TraceLine] {
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "test", tool: "frametap test")])
        let time = Timestamp(nanoseconds: 0)
        let ends = (Endpoint(IPAddress(v4: 1), 1), Endpoint(IPAddress(v4: 2), 2))
        let receiver = decoder.open(Opening(number: 1, time: time, client: ends.0, server: ends.1))
        for chunk in chunks { receiver.received(chunk.bytes.span.bytes, from: chunk.direction, at: time, packet: 0) }
        if hasEnds { for direction in Direction.allCases { receiver.finished(.fin, from: direction, at: time) } }
        receiver.closed(Closing(reason: .fin, by: .fromClient, time: time))
        decoder.finish()
        decoder.flush()
        return (try? traceLines(String(decoding: output.bytes, as: UTF8.self))) ?? []
    }

    private func frames(_ lines: [TraceLine]) -> [String] {
        lines.filter { $0.event == "frame" }.map {
            "\($0["from"] ?? "") \($0["type"] ?? "") \($0[number: "offset"] ?? -1) \($0[number: "length"] ?? -1)"
        }.sorted()
    }

    @Test func thePlaintextGoesOnWhereTheUpgradeWas() throws {
        let format = try format("docs/examples/postgresql.yaml")
        let lines = decode(try chunks(), format, try keys())
        let frames = frames(lines)
        #expect(frames.count == 35, "\(frames)")
        #expect(frames.contains("client SSLRequest 0 8") && frames.contains("client StartupMessage 8 36"), "\(frames)")
        #expect(frames.contains("server TLS 0 1") && frames.contains("server Authentication 1 9"), "\(frames)")
        #expect(lines.contains { $0.event == "tls" && $0["decrypted"] == "keys" })
        #expect(!lines.contains { $0.event == "unframed" || $0.event == "missing" })
    }

    /// Any cutting of the same bytes gives the same frames.
    @Test func segmentationDoesNotMatter() throws {
        let format = try format("docs/examples/postgresql.yaml")
        let (chunks, keys) = (try chunks(), try keys())
        let whole = frames(decode(chunks, format, keys))
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for longest in [1, 3, 20, 400] {
            let pieces = cut(chunks, longest, using: &generator)
            #expect(frames(decode(pieces, format, keys)) == whole, "seed \(seed), pieces of up to \(longest)")
        }
        // All that one side sent between two answers in one piece, the answer and what follows it, too.
        var merged: [(bytes: [UInt8], direction: Direction)] = []
        for chunk in chunks {
            if merged.last?.direction == chunk.direction {
                merged[merged.count - 1].bytes += chunk.bytes
            } else {
                merged.append(chunk)
            }
        }
        #expect(frames(decode(merged, format, keys)) == whole)
    }

    private func cut(
        _ chunks: [(bytes: [UInt8], direction: Direction)], _ longest: Int, using generator: inout SeededGenerator
    ) -> [(bytes: [UInt8], direction: Direction)] {
        var pieces: [(bytes: [UInt8], direction: Direction)] = []
        for chunk in chunks {
            var rest = chunk.bytes[...]
            while !rest.isEmpty {
                let piece = Array(rest.prefix(.random(in: 1...longest, using: &generator)))
                pieces.append((piece, chunk.direction))
                rest = rest.dropFirst(piece.count)
            }
        }
        return pieces
    }

    // MARK: Recognition

    /// The plaintext before TLS of the examples that change to it.
    private static let beginnings: [(format: String, frames: Int, chunks: [(Direction, [UInt8])])] = [
        (
            "smtp", 5,
            [
                (.fromServer, Array("220 hi ESMTP\r\n".utf8)), (.fromClient, Array("EHLO me\r\n".utf8)),
                (.fromServer, Array("250-hi\r\n250 STARTTLS\r\n".utf8)), (.fromClient, Array("STARTTLS\r\n".utf8)),
                (.fromServer, Array("220 go\r\n".utf8)),
            ]
        ),
        (
            "ldap", 2,
            [
                (
                    .fromClient,
                    [0x30, 0x1d, 2, 1, 1, 0x77, 0x18, 0x80, 0x16] + Array("1.3.6.1.4.1.1466.20037".utf8)
                ),
                (.fromServer, [0x30, 0x0c, 2, 1, 1, 0x78, 7, 0x0a, 1, 0, 4, 0, 4, 0]),
            ]
        ),
        ("postgresql", 2, [(.fromClient, [0, 0, 0, 8, 4, 210, 22, 47]), (.fromServer, [0x53])]),
    ]

    /// A format is recognized by what comes before TLS, which belongs to no format. Recognition must not depend on cutting.
    @Test(arguments: ["smtp", "ldap", "postgresql"], [true, false])
    func whatFollowsTheUpgradeIsNoEvidence(name: String, isDecrypted: Bool) throws {
        let beginning = try #require(Self.beginnings.first { $0.format == name })
        // A real handshake: the recorded one without the request for it and the answer.
        let tls = try self.chunks().dropFirst(2)
        let chunks = beginning.chunks.map { (bytes: $0.1, direction: $0.0) } + tls
        var options = DecodingOptions(.automatic(try BuiltInFormats.all() + ExampleFormats.recognised()))
        options.tls?.keyLog = isDecrypted ? try keys() : nil
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for longest in [10_000, 1, 7, 300] {
            let lines = decode(cut(chunks, longest, using: &generator), options)
            let format = lines.first { $0.event == "format" }?["format"]
            #expect(format?.hasSuffix(name) == true, "\(format ?? "none"), seed \(seed), pieces of up to \(longest)")
            #expect(lines.contains { $0.event == "tls" && $0["version"] == "TLS 1.3" }, "seed \(seed)")
            #expect(!lines.contains { $0["kind"] == "tls-failed" }, "seed \(seed)")
            // What was decrypted need not be of the format; the rest is known to be none.
            if !isDecrypted { #expect(frames(lines).count == beginning.frames, "seed \(seed), \(frames(lines))") }
        }
    }

    /// A format may be recognized only when the connection is over: then what was held is still TLS, and accounted for.
    @Test(arguments: [true, false]) func aLateRecognitionChangesToTLS(hasEnds: Bool) throws {
        let format = try FormatLoader.load(
            StartTLS.yaml + "\ndetect: { evidence: many lines, frames: 100, alone: lines }\n", file: "starttls")
        let talk: [(bytes: [UInt8], direction: Direction)] = [
            (Array("STARTTLS\n".utf8), .fromClient), (Array("220 go\n".utf8), .fromServer),
        ]
        let chunks = try talk + self.chunks().dropFirst(2)
        let lines = decode(chunks, DecodingOptions(.automatic([format])), hasEnds: hasEnds)
        #expect(frames(lines) == ["client STARTTLS 0 9", "server line 0 7"])
        #expect(lines.contains { $0.event == "tls" && $0["version"] == "TLS 1.3" })
        let unframed = lines.filter { $0.event == "unframed" }.compactMap { $0[number: "length"] }.reduce(0, +)
        #expect(unframed + 16 == chunks.reduce(0) { $0 + $1.bytes.count }, "\(lines.map(\.text))")
    }

    // MARK: What is no upgrade

    @Test func withoutKeysTheRestIsNotDecrypted() throws {
        let lines = decode(try chunks(), try format("docs/examples/postgresql.yaml"), nil)
        #expect(frames(lines) == ["client SSLRequest 0 8", "server TLS 0 1"])
        #expect(lines.contains { $0.event == "tls" && $0["version"] == "TLS 1.3" && $0["serverName"] == "localhost" })
    }

    /// A refusal, plaintext between request and answer, and no TLS after an answer.
    @Test func whatIsNoUpgrade() throws {
        let format = try FormatLoader.load(StartTLS.yaml, file: "starttls")
        func lines(_ parts: (String, Direction)...) -> [TraceLine] {
            decode(parts.map { (Array($0.0.utf8), $0.1) }, format, nil)
        }
        let refused = lines(("STARTTLS\n", .fromClient), ("500 no\n", .fromServer), ("more\n", .fromClient))
        #expect(frames(refused).count == 3 && !refused.contains { $0.event == "finding" })
        let injected = lines(("STARTTLS\nevil\n", .fromClient), ("220 go\n", .fromServer))
        #expect(
            injected.contains { $0["kind"] == "tls-failed" && $0["message"]?.contains("CVE-2021-23222") == true },
            "\(injected.map(\.text))")
        let plain = lines(
            ("STARTTLS\n", .fromClient), ("220 go\n", .fromServer), ("plain text after all\n", .fromClient))
        #expect(plain.contains { $0["kind"] == "tls-failed" }, "\(plain.map(\.text))")
    }

    /// Plaintext behind a request or an answer, a line or less, is found however it is cut, once; and TLS goes on.
    @Test(arguments: [
        ("STARTTLS\nevil\n", "220 go\n", 2), ("STARTTLS\nev", "220 go\n", 1), ("STARTTLS\n", "220 go\n250 evil\n", 1),
        ("STARTTLS\n", "220 go\n2", 1),
    ])
    func injectedPlaintextIsFound(request: String, answer: String, requests: Int) throws {
        let format = try FormatLoader.load(StartTLS.yaml, file: "starttls")
        let chunks = [
            (bytes: Array(request.utf8), direction: Direction.fromClient),
            (bytes: Array(answer.utf8), direction: .fromServer),
        ]
        let tls = requests == 2 ? [] : try self.chunks().dropFirst(2)
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for longest in [100, 1, 4] {
            let pieces = cut(chunks, longest, using: &generator)
            let lines = decode(pieces + tls, format, nil)
            let faults = lines.filter { $0["kind"] == "tls-failed" }.compactMap { $0["message"] }
            #expect(faults.first?.contains("CVE-2021-23222") == true && faults.count == 1, "\(faults), seed \(seed)")
            #expect(frames(lines).count { $0.hasPrefix("client") } == requests, "\(frames(lines)), seed \(seed)")
            if requests == 1 { #expect(lines.contains { $0.event == "tls" }, "seed \(seed)") }
        }
    }
}
