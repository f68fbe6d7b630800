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

    private func options() throws -> DecodingOptions { DecodingOptions(.automatic(try BuiltInFormats.all())) }

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

/// Passes on each packet of an Ethernet capture once for each of this many pairs of hosts.
private struct CopiedPackets: PacketReceiver, ~Copyable {
    var receiver: CaptureDecoder
    private let pairs: Int

    init(to receiver: consuming CaptureDecoder, pairs: Int) {
        self.receiver = receiver
        self.pairs = pairs
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        var copy = bytes.copied()
        for pair in 0..<pairs {
            // The third byte of both IPv4 addresses.
            (copy[28], copy[32]) = (UInt8(pair), UInt8(pair))
            _ = receiver.receive(packet, bytes: copy.span.bytes, options: options)
        }
        return .taken
    }

    mutating func captured(until time: Timestamp) { receiver.captured(until: time) }
}
