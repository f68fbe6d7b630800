import Dispatch
import Foundation
import Framing
import Packets
import Pipeline
import Streams
import Synchronization
import TestSupport
import Testing
import Trace

/// Decoding a capture with several threads gives the same result as with one, byte for byte.
@Suite struct ParallelDecodingTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    static let captures: [String] = {
        let all = FileManager.default.enumerator(atPath: fixtures.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".pcap") }.sorted()
    }()

    private func options() throws -> DecodingOptions {
        DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
    }

    /// Reads a capture on a thread of its own; `decode` gets the queue.
    private func read(_ bytes: [UInt8], _ decode: (BatchQueue) -> Void) {
        let queue = BatchQueue(batches: 2)
        let group = DispatchGroup()
        DispatchQueue(label: "reader").async(group: group) {
            let receiver = BatchingReceiver(queue)
            var capture = CaptureDecoder(receiver: receiver)
            var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
            _ = try? reader.read(to: &capture)
            capture.finish()
            receiver.finish()
        }
        decode(queue)
        group.wait()
    }

    @Test func thereAreCaptures() { #expect(Self.captures.count > 10) }

    @Test(arguments: captures) func theTraceIsTheSame(capture: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let options = try options()
        func outputs(_ feed: (Decoder) -> Void) -> [String] {
            let outputs = [MemoryOutput(), MemoryOutput()]
            let decoder = Decoder(
                options,
                sinks: [NDJSONWriter(to: outputs[0], source: "", tool: ""), TextWriter(to: outputs[1])])
            feed(decoder)
            decoder.finish()
            decoder.flush()
            return outputs.map(\.text)
        }
        let alone = outputs { decoder in
            var capture = CaptureDecoder(receiver: decoder)
            var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
            _ = try? reader.read(to: &capture)
            capture.finish()
        }
        let parallel = outputs { decoder in
            read(bytes) { BatchReplay($0, to: decoder).run { false } }
        }
        #expect(alone == parallel)
    }

    /// What becomes due in the past is in the same place of the trace, however often the source says what time it is: a frame that was
    /// held until now is an answer to no request since long ago.
    @Test func whatIsDueLateIsReportedAtTheSamePlace() throws {
        let format = try FormatLoader.load(
            """
            format: asked
            framing: { rule: delimiter, end: "\\n" }
            body: text
            frame: { type: [{ when: body.text == "a", is: answer }, { when: body.text == "q", is: request }, { is: other }] }
            detect: { evidence: three lines, frames: 3, alone: a line }
            pairs: [{ request: type == "request", from: client, answer: type == "answer" }]
            """, file: "asked.yaml")
        func play(to receiver: any StreamReceiver) {
            func advance(to seconds: Int64) -> Timestamp {
                let time = Timestamp(seconds: seconds, nanoseconds: 0)
                receiver.advance(to: time)
                return time
            }
            func send(_ text: String, to connection: any ConnectionReceiver, _ direction: Direction, _ seconds: Int64) {
                let bytes = Array(text.utf8)
                connection.received(bytes.span.bytes, from: direction, at: advance(to: seconds), packet: 1)
            }
            let start = advance(to: 1_000)
            let open = (1...2).map { number in
                receiver.open(
                    Opening(
                        number: number, time: start, client: Endpoint(IPAddress(v4: 1), UInt16(number)),
                        server: Endpoint(IPAddress(v4: 2), 2)))
            }
            send("a\n", to: open[0], .fromServer, 1_000)
            for _ in 0..<3 { send("x\n", to: open[1], .fromClient, 1_000) }
            open[0].noticed(.idle, from: .fromServer, at: advance(to: 1_060), packet: 2)
            for seconds in [1_060, 1_060, 1_061] as [Int64] { send("x\n", to: open[1], .fromClient, seconds) }
            for connection in open { connection.closed(Closing(reason: .fin, by: nil, time: advance(to: 1_061))) }
        }
        func trace(_ feed: (Decoder) -> Void) throws -> [TraceLine] {
            let output = MemoryOutput()
            let decoder = Decoder(
                DecodingOptions(.automatic([format])), sinks: [NDJSONWriter(to: output, source: "", tool: "")])
            feed(decoder)
            decoder.finish()
            decoder.flush()
            return try traceLines(output.text)
        }
        let alone = try trace { play(to: $0) }
        let parallel = try trace { decoder in
            let queue = BatchQueue(batches: 2)
            let receiver = BatchingReceiver(queue)
            play(to: receiver)
            receiver.finish()
            BatchReplay(queue, to: decoder).run { false }
        }
        #expect(alone.map(\.text) == parallel.map(\.text))
        #expect(alone.filter { $0["kind"] == "answer-without-request" }.count == 1)
    }

    @Test(arguments: captures) func sharesAddUp(capture: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let options = try options()
        func summary(_ reassembly: ReassemblyOptions) -> Summary {
            let decoder = Decoder(options, sinks: [])
            var packets = CaptureDecoder(options: reassembly, receiver: decoder)
            var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
            _ = try? reader.read(to: &packets)
            packets.finish()
            let hasReachedLimit = packets.hasReachedLimit
            #expect(!hasReachedLimit)
            return decoder.summary
        }
        let all = ReassemblyOptions()
        for count in 1...5 {
            let sum = Decoder(options, sinks: [])
            for index in 0..<count { sum.add(summary(all.taking(CaptureShare(index, of: count)))) }
            #expect(sum.summary == summary(all))
        }
    }

    /// The same conversation between many pairs of hosts, in shares of any weights.
    @Test func sharesOfManyHostsAddUp() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let options = try options()
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: "line/conversation.pcap")))
        func summary(_ share: CaptureShare?) -> Summary {
            let decoder = Decoder(options, sinks: [])
            let packets = CaptureDecoder(
                options: share.map { ReassemblyOptions().taking($0) } ?? ReassemblyOptions(), receiver: decoder)
            var copies = CopiedPackets(to: packets, pairs: 24)
            var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
            _ = try? reader.read(to: &copies)
            copies.receiver.finish()
            return decoder.summary
        }
        let whole = summary(nil)
        let all = whole.total.connections
        #expect(all >= 24 && all % 24 == 0)
        for count in 2...4 {
            let weights = (0..<HostBuckets.count).map { _ in Int.random(in: 0...1_000, using: &generator) }
            let shares = CaptureShare.balanced(weights, into: count)
            let loads = shares.map { share in weights.indices.reduce(0) { share.has($1) ? $0 + weights[$1] : $0 } }
            #expect((loads.max() ?? 0) - (loads.min() ?? 0) <= 1_000, "seed \(seed): \(loads)")
            let parts = shares.map(summary)
            #expect(parts.allSatisfy { $0.total.connections < all }, "seed \(seed)")
            let sum = Decoder(options, sinks: [])
            for part in parts { sum.add(part) }
            #expect(sum.summary == whole, "seed \(seed), \(count) shares")
        }
    }

    @Test func whoHasEnoughStopsReadingAlong() throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: "im-json/chat.pcap")))
        let decoder = Decoder(try options(), sinks: [])
        read(bytes) { BatchReplay($0, to: decoder).run { true } }
        #expect(decoder.summary == Summary())
    }
}
