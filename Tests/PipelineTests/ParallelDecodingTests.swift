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

/// What several threads make of a capture is what one makes of it, byte for byte.
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

    @Test func whoHasEnoughStopsReadingAlong() throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: "im-json/chat.pcap")))
        let decoder = Decoder(try options(), sinks: [])
        read(bytes) { BatchReplay($0, to: decoder).run { true } }
        #expect(decoder.summary == Summary())
    }
}
