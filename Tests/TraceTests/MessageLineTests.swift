import Streams
import TestSupport
import Testing

@testable import Framing
@testable import Trace

/// Lines of frames whose bodies are Protobuf messages, which are written without decoding them first.
@Suite struct MessageLineTests {
    /// The line is the same whether the body was decoded before or not.
    @Test(arguments: [nil, 70, 100, 140])
    func messagesAreShownAsDecodedBodiesAre(columns: Int?) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var options = TextOptions()
        options.columns = columns
        for _ in 0..<300 {
            options.isColored = Bool.random(using: &generator)
            let id = [1, 2, 3, 100].randomElement(using: &generator) ?? 1
            let body = Self.message(&generator)
            let segments = Int.random(in: 1...3, using: &generator)
            let merged = Int.random(in: 1...12, using: &generator)
            let isHeartbeat = Bool.random(using: &generator)
            let lines = try [false, true].map { isDecoded in
                try Self.line(options, id, body, isDecoded: isDecoded) { frame in
                    (frame.segments, frame.position, frame.companions) = (segments, 1, merged)
                    return isHeartbeat
                }
            }
            #expect(lines[0] == lines[1], "seed \(seed), body \(body)")
            #expect(lines[0].utf8.allSatisfy { $0 >= 0x20 || $0 == 0x0a || options.isColored && $0 == 0x1b })
            // The session of a login is a secret; the line may end before it.
            if id == 1, let session = lines[0].firstRange(of: "\"2\":") {
                let shown = lines[0][session.upperBound...].drop { $0 == "\"" }
                #expect(shown.first == "«" || shown.first == "…", "seed \(seed): \(lines[0])")
            }
        }
    }

    /// A message of few fields, or bytes that are nearly one.
    private static func message(_ generator: inout SeededGenerator) -> [UInt8] {
        let texts = ["hello", "a \"b\" \\", "心跳", "\u{1b}[31m", "\u{7f}", "", String(repeating: "x", count: 90)]
        var bytes: [UInt8] = []
        for number in 1...UInt8.random(in: 1...4, using: &generator) {
            if Bool.random(using: &generator) {
                bytes += [number << 3, UInt8.random(in: 0...127, using: &generator)]
            } else {
                let text = Array((texts.randomElement(using: &generator) ?? "").utf8)
                bytes += [number << 3 | 2, UInt8(text.count)] + text
            }
        }
        if Int.random(in: 0..<8, using: &generator) == 0 { bytes.append(0xff) }
        return bytes
    }

    private static func line(
        _ options: TextOptions, _ id: Int, _ body: [UInt8], isDecoded: Bool, _ edit: (inout FrameInfo) -> Bool
    ) throws -> String {
        let format = try #require(try BuiltInFormats.format(named: "len16-id"))
        let side = format.directions.fromClient
        let output = MemoryOutput()
        let writer = TextWriter(to: output, options: options)
        let loopback = Endpoint(IPAddress(v4: 0x7f00_0001), 1)
        let connection = TracedConnection(
            Opening(number: 1, time: start, client: loopback, server: loopback, handshake: true, clientGuessed: false))
        connection.recognise(format, FormatChoice(by: .content, evidence: ""))
        let bytes = try side.encode([Field("id", .integer(Int64(id)))], body: body)
        let shape = FrameShape(head: bytes.count - body.count, body: body.count)
        var info = FrameInfo(
            index: 0, offset: 0, shape: shape, started: start, time: start, segments: 1, merged: false, position: 1,
            companions: 1, missing: 0, packet: 0)
        let isHeartbeat = edit(&info)
        let kinds = try #require(connection.kinds(of: .fromClient))
        var frame = TracedFrame(info: info, direction: .fromClient, isHeartbeat: isHeartbeat)
        frame.kind = kinds.kind(of: bytes.span.bytes, shape)
        if isDecoded { frame.body = kinds.body(frame.kind, bytes.span.bytes, shape, triesPlain: false) }
        writer.frame(frame, bytes: bytes.span.bytes, on: connection)
        writer.flush()
        return output.text
    }

    /// Eight bytes at a time find what one at a time does.
    @Test func printableASCIIIsFound() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<3_000 {
            var bytes = (0..<Int.random(in: 0...40, using: &generator)).map { _ in
                UInt8.random(in: 0x20...0x7e, using: &generator)
            }
            if let place = bytes.indices.randomElement(using: &generator), Bool.random(using: &generator) {
                bytes[place] = UInt8.random(in: 0...255, using: &generator)
            }
            let expected = bytes.allSatisfy { (0x20...0x7e).contains($0) }
            #expect(bytes.span.bytes.isPrintableASCII == expected, "seed \(seed): \(bytes)")
        }
    }

    /// The first column is that of a line of its own, whatever lines came before.
    @Test func timesDependOnNoOthers() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var clock = ClockText(TextOptions())
        var time = start
        for _ in 0..<2_000 {
            let most: Int64 = [1_000, 100_000_000, 3_000_000_000].randomElement(using: &generator) ?? 1
            time = Timestamp(nanoseconds: time.nanoseconds + Int64.random(in: -most...most, using: &generator))
            let isNewSecond = clock.update(time)
            var expected: [UInt8] = []
            TimestampText.clock(time, into: &expected)
            #expect(clock.bytes == expected, "seed \(seed): \(time.rfc3339)")
            #expect(isNewSecond || clock.bytes.prefix(8) == expected.prefix(8), "seed \(seed)")
        }
    }
}
