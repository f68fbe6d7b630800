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
        let output = MemoryOutput()
        let decoder = Decoder(options, sinks: [NDJSONWriter(to: output, source: "test", tool: "frametap test")])
        let time = Timestamp(nanoseconds: 0)
        let ends = (Endpoint(IPAddress(v4: 1), 1), Endpoint(IPAddress(v4: 2), 2))
        let receiver = decoder.open(Opening(number: 1, time: time, client: ends.0, server: ends.1))
        for chunk in chunks { receiver.received(chunk.bytes.span.bytes, from: chunk.direction, at: time, packet: 0) }
        for direction in Direction.allCases { receiver.finished(.fin, from: direction, at: time) }
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
            var pieces: [(bytes: [UInt8], direction: Direction)] = []
            for chunk in chunks {
                var rest = chunk.bytes[...]
                while !rest.isEmpty {
                    let piece = Array(rest.prefix(.random(in: 1...longest, using: &generator)))
                    pieces.append((piece, chunk.direction))
                    rest = rest.dropFirst(piece.count)
                }
            }
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

    @Test func withoutKeysTheRestIsNotDecrypted() throws {
        let lines = decode(try chunks(), try format("docs/examples/postgresql.yaml"), nil)
        #expect(frames(lines) == ["client SSLRequest 0 8", "server TLS 0 1"])
        #expect(lines.contains { $0.event == "tls" && $0["version"] == "TLS 1.3" && $0["serverName"] == "localhost" })
    }

    /// A refusal, plaintext between request and answer, and no TLS after an answer.
    @Test func whatIsNoUpgrade() throws {
        let text = """
            format: starttls
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "STARTTLS", is: STARTTLS }, { is: line }] }
            tls: { after: type == "STARTTLS" and from == client, answered: body.text startsWith "220" }
            """
        let format = try FormatLoader.load(text, file: "starttls")
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
}
