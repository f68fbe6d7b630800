import Framing
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// A plain frame's line, which is written at once, is the one that is written piece by piece.
@Suite struct PlainLineTests {
    /// Ignores what it receives. With it there are two sinks of frames, for which bodies are decoded first: no line is written at once.
    private final class Ignoring: TraceSink {
        func opened(_ connection: TracedConnection) {}
        func recognised(_ connection: TracedConnection) {}
        func frame(_ frame: TracedFrame, bytes: RawSpan, on connection: TracedConnection) {}
        func missing(_ gap: Gap, on connection: TracedConnection) {}
        func unframed(_ run: UnframedRun, from direction: Direction, on connection: TracedConnection) {}
        func finding(_ finding: Finding) {}
        func closed(_ closing: Closing, counts: PerDirection<ByteCounts>, on connection: TracedConnection) {}
        func summary(_ summary: Summary) {}
    }

    private func body(_ generator: inout SeededGenerator) -> [UInt8] {
        switch Int.random(in: 0...7, using: &generator) {
        // Plain messages: a text, numbers, one message in another.
        case 0: return [10, 90] + [UInt8](repeating: 0x61, count: 90)
        case 1: return [8, .random(in: 0...127, using: &generator), 18, 2, 0x22, 0x5c]
        case 2: return [10, 4, 8, 1, 18, 0]
        // Messages that only the decoder writes: a field again, fields out of order.
        case 3: return [8, 1, 8, 2]
        case 4: return [18, 1, 0x61, 8, 1]
        // No messages.
        case 5: return generator.bytes(.random(in: 1...60, using: &generator))
        case 6: return []
        // Too long for it.
        default: return [10, 0x80, 0x50] + [UInt8](repeating: 0x62, count: 10_240)
        }
    }

    private func lines(_ stream: [UInt8], bodyLimit: Int, atOnce: Bool) throws -> String {
        let output = MemoryOutput()
        let writer = NDJSONWriter(to: output, source: "s", tool: "t", bodyLimit: bodyLimit)
        let format = try #require(try BuiltInFormats.format(named: "len16-id"))
        let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [writer] + (atOnce ? [] : [Ignoring()]))
        let end = Endpoint(IPAddress(v4: 0x7f00_0001), 9_000)
        let connection = decoder.open(
            Opening(number: 1, time: Timestamp(nanoseconds: 0), client: end, server: end))
        for (index, start) in stride(from: 0, to: stream.count, by: 700).enumerated() {
            let chunk = Array(stream[start..<min(start + 700, stream.count)])
            connection.received(
                chunk.span.bytes, from: .fromClient, at: Timestamp(nanoseconds: Int64(index)), packet: index + 1)
        }
        connection.closed(Closing(reason: .endOfInput, by: nil, time: Timestamp(nanoseconds: 1 << 40)))
        decoder.finish()
        decoder.flush()
        return output.text
    }

    @Test(arguments: [0, 1, 12, 100, 4_096, 1 << 40])
    func theSameAsPieceByPiece(bodyLimit: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var stream: [UInt8] = []
        for _ in 0..<500 {
            let body = body(&generator)
            // Logins, which have a secret, and frames of any other kind.
            let kind = UInt8([1, 2, 3, 3, 3, 99, 100].randomElement(using: &generator) ?? 3)
            stream += [
                UInt8((body.count + 3) >> 8), UInt8((body.count + 3) & 255), 0, kind,
                .random(in: 0...255, using: &generator),
            ]
            stream += body
        }
        let text = try lines(stream, bodyLimit: bodyLimit, atOnce: true)
        #expect(try text == lines(stream, bodyLimit: bodyLimit, atOnce: false), "seed \(seed)")
        #expect(
            text.split(separator: "\n").count >= 500 && text.contains("\"protobuf\":{") == (bodyLimit > 4),
            "seed \(seed)"
        )
    }
}
