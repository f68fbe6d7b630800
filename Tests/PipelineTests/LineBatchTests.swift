import Foundation
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// Lines that are gathered in batches and rendered elsewhere are those that are written at once.
@Suite struct LineBatchTests {
    private static let fixtures = URL(filePath: #filePath).appending(path: "../../../fixtures").standardized

    private func decode(_ bytes: [UInt8], _ options: DecodingOptions, to sink: any TraceSink) {
        let decoder = Decoder(options, sinks: [sink])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
        _ = try? reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()
    }

    /// The lines, each batch rendered only when a number of others have been handed on, by one of several renderers.
    private func batched(
        _ bytes: [UInt8], _ options: DecodingOptions, bodyLimit: Int, behind: Int
    ) -> (text: String, batches: Int) {
        let output = MemoryOutput()
        let renderers = [LineRenderer(bodyLimit: bodyLimit), LineRenderer(bodyLimit: bodyLimit)]
        var pending: [LineBatch] = []
        var free: [LineBatch] = []
        var count = 0
        func render() {
            let batch = pending.removeFirst()
            renderers[count % 2].render(batch)
            count += 1
            output.write(batch.lines)
            batch.empty()
            free.append(batch)
        }
        let batcher = LineBatcher(source: "s", tool: "t", bodyLimit: bodyLimit) { batch in
            pending.append(batch)
            if pending.count > behind { render() }
            return free.popLast() ?? LineBatch()
        } whenFlushed: {
            while !pending.isEmpty { render() }
        }
        decode(bytes, options, to: batcher)
        return (output.text, count)
    }

    /// Loading them takes longer than what they are used for.
    private static let formats = Result { (try BuiltInFormats.all(), try ExampleFormats.recognised()) }

    @Test(arguments: ParallelDecodingTests.captures, [0, 4_096])
    func linesAreThoseOfTheWriter(capture: String, bodyLimit: Int) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let (builtIn, examples) = try Self.formats.get()
        let name = URL(filePath: capture).deletingPathExtension().lastPathComponent
        let example = capture.hasPrefix("examples/") ? examples.first { $0.name == name } : nil
        let options = DecodingOptions(example.map { .fixed($0) } ?? .automatic(builtIn))
        let output = MemoryOutput()
        decode(bytes, options, to: NDJSONWriter(to: output, source: "s", tool: "t", bodyLimit: bodyLimit))
        let (text, _) = batched(bytes, options, bodyLimit: bodyLimit, behind: 0)
        #expect(text == output.text && output.bytes.count > 200, "\(capture)")
    }

    /// Many batches, the formats of two conversations, and frames longer than a batch.
    @Test func manyBatchesStayInOrder() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var stream: [UInt8] = []
        for index in 0..<6_000 {
            let length = index % 1_000 == 7 ? 65_530 : Int.random(in: 0...90, using: &generator)
            let body = generator.bytes(length)
            stream += [UInt8((length + 3) >> 8), UInt8(truncatingIfNeeded: length + 3), 0, UInt8(index % 7), 0] + body
        }
        let format = try #require(try BuiltInFormats.format(named: "len16-id"))
        func feed(_ sink: any TraceSink) {
            let decoder = Decoder(DecodingOptions(.fixed(format)), sinks: [sink])
            let ends = (Endpoint(IPAddress(v4: 1), 40_000), Endpoint(IPAddress(v4: 2), 80))
            let connection = decoder.open(
                Opening(number: 1, time: Timestamp(nanoseconds: 0), client: ends.0, server: ends.1))
            for start in stride(from: 0, to: stream.count, by: 1_000) {
                let chunk = Array(stream[start..<min(start + 1_000, stream.count)])
                connection.received(
                    chunk.span.bytes, from: .fromClient,
                    at: Timestamp(nanoseconds: Int64(start)), packet: 1 + start / 1_000)
            }
            connection.closed(Closing(reason: .endOfInput, by: nil, time: Timestamp(nanoseconds: 1 << 40)))
            decoder.finish()
            decoder.flush()
        }
        let output = MemoryOutput()
        feed(NDJSONWriter(to: output, source: "s", tool: "t", bodyLimit: 64))
        let rendered = MemoryOutput()
        let renderers = (0..<3).map { _ in LineRenderer(bodyLimit: 64) }
        var pending: [LineBatch] = []
        var count = 0
        feed(
            LineBatcher(source: "s", tool: "t", bodyLimit: 64) { batch in
                pending.append(batch)
                return LineBatch()
            } whenFlushed: {
                // The last is rendered first: what a renderer learned does not show.
                for batch in pending.reversed() {
                    renderers[count % 3].render(batch)
                    count += 1
                }
                for batch in pending { rendered.write(batch.lines) }
                pending.removeAll()
            })
        #expect(rendered.text == output.text && count > 5, "seed \(seed)")
    }
}
