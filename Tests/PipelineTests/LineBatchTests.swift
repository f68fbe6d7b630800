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
        _ bytes: [UInt8], _ options: DecodingOptions, _ form: LineForm, behind: Int
    ) -> (text: String, batches: Int) {
        let output = MemoryOutput()
        let renderers = [LineRenderer(form), LineRenderer(form)]
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
        let batcher = LineBatcher(form, source: "s", tool: "t") { batch in
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

    /// Writes lines one after the other.
    private static func writer(_ form: LineForm, to output: MemoryOutput) -> any TraceSink {
        switch form {
        case .ndjson(let bodyLimit): NDJSONWriter(to: output, source: "s", tool: "t", bodyLimit: bodyLimit)
        case .text(let options): TextWriter(to: output, options: options)
        }
    }

    @Test(arguments: ParallelDecodingTests.captures, ["ndjson 0", "ndjson", "text", "text -v"])
    func linesAreThoseOfTheWriter(capture: String, name form: String) throws {
        var verbose = TextOptions()
        (verbose.isVerbose, verbose.times, verbose.columns) = (true, .delta, 90)
        let form: LineForm =
            switch form {
            case "ndjson 0": .ndjson(bodyLimit: 0)
            case "ndjson": .ndjson(bodyLimit: 4_096)
            case "text": .text(TextOptions())
            default: .text(verbose)
            }
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let (builtIn, examples) = try Self.formats.get()
        let name = URL(filePath: capture).deletingPathExtension().lastPathComponent
        let example = capture.hasPrefix("examples/") ? examples.first { $0.name == name } : nil
        let options = DecodingOptions(example.map { .fixed($0) } ?? .automatic(builtIn))
        let output = MemoryOutput()
        decode(bytes, options, to: Self.writer(form, to: output))
        let (text, _) = batched(bytes, options, form, behind: 0)
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
            // What a proxy passed on is in NDJSON, too.
            for leg in [Leg.in, .out] {
                let connection = decoder.open(
                    Opening(number: 1, leg: leg, time: Timestamp(nanoseconds: 0), client: ends.0, server: ends.1))
                for start in stride(from: 0, to: stream.count, by: 1_000) {
                    let chunk = Array(stream[start..<min(start + 1_000, stream.count)])
                    connection.received(
                        chunk.span.bytes, from: .fromClient,
                        at: Timestamp(nanoseconds: Int64(start)), packet: 1 + start / 1_000)
                }
                connection.closed(Closing(reason: .endOfInput, by: nil, time: Timestamp(nanoseconds: 1 << 40)))
            }
            decoder.finish()
            decoder.flush()
        }
        let text = Self.compare(.ndjson(bodyLimit: 64), "seed \(seed)", feed)
        #expect(text.contains(#""leg":"out""#))
    }

    /// Human-readable lines depend on those before: columns widen, and a line says that another day has begun.
    @Test(arguments: TextOptions.Times.allCases, [false, true])
    func textGoesOnWhereItWas(times: TextOptions.Times, isColored: Bool) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededGenerator(seed: seed)
        func name() -> String {
            String(repeating: "n", count: Int.random(in: 1...(random.next() % 200 == 0 ? 30 : 3), using: &random))
        }
        let formats = try ["im-json", "len16-id"].map { try #require(try BuiltInFormats.format(named: $0)) }
        // Connections open one after the other, two have frames at a time, some without source and target, some are what a proxy passed
        // on, which is not shown. Times also go back, to the same few instants of three days, too.
        var time: Int64 = 1_700_000_000_000_000_000
        let instants = (0..<3).map { time + $0 * 86_400_000_000_000 }
        var messages: [(connection: Int, time: Timestamp, bytes: [UInt8])] = []
        for index in 0..<6_000 {
            let body = String(repeating: "b", count: Int.random(in: 0...9, using: &random))
            let parties = #""CinentID":"\#(name())","targetID":"\#(name())""#
            let head = #"{"type":"\#(name())",\#(parties),"size":"\#(body.utf8.count)"}"#
            let isOfHalf = index >= 3_000
            var bytes = Array("\(head)\r\n\(body)".utf8)
            let connection = max(0, index / 100 - Int.random(in: 0...1, using: &random))
            if connection % 3 == 0 {
                bytes = [0, UInt8(3 + body.utf8.count), 0, UInt8(index % 7), 0] + Array(body.utf8)
            }
            // Bytes that belong to no frame are lines between those of frames.
            if index % 700 == 5 { bytes = Array("?".utf8) }
            time += Int64.random(in: -3_000_000_000...(isOfHalf ? 9_000_000_000 : 90_000_000_000), using: &random)
            if let instant = instants.randomElement(using: &random), random.next() % 4 == 0 { time = instant }
            messages.append((connection, Timestamp(nanoseconds: time), bytes))
        }
        func feed(_ sink: any TraceSink) {
            let decoders = formats.map { Decoder(DecodingOptions(.fixed($0)), sinks: [sink]) }
            let ends = (Endpoint(IPAddress(v4: 1), 40_000), Endpoint(IPAddress(v4: 2), 80))
            var connections: [Int: any ConnectionReceiver] = [:]
            for message in messages {
                let number = message.connection
                if connections[number] == nil {
                    let opening = Opening(
                        number: 1 + 37 * number, leg: number % 4 == 2 ? .out : number % 4 == 1 ? .in : nil,
                        time: message.time, client: ends.0, server: ends.1, handshake: true)
                    connections[number] = decoders[number % 3 == 0 ? 1 : 0].open(opening)
                }
                connections[number]?.received(message.bytes.span.bytes, from: .fromClient, at: message.time, packet: 1)
            }
            for decoder in decoders { decoder.finish() }
            decoders[0].flush()
        }
        var options = TextOptions()
        (options.times, options.isColored) = (times, isColored)
        options.utcOffset = { _ in 5_400 }
        options.columns = Bool.random(using: &random) ? 100 : nil
        _ = Self.compare(.text(options), "seed \(seed)", feed)
    }

    /// Expects the same lines from one writer and from several renderers; returns them.
    private static func compare(_ form: LineForm, _ comment: Comment, _ feed: (any TraceSink) -> Void) -> String {
        let output = MemoryOutput()
        feed(writer(form, to: output))
        let rendered = MemoryOutput()
        let renderers = (0..<3).map { _ in LineRenderer(form) }
        var pending: [LineBatch] = []
        var count = 0
        feed(
            LineBatcher(form, source: "s", tool: "t") { batch in
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
        #expect(rendered.text == output.text && count > 3, comment)
        return output.text
    }
}
