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

    /// Reads a capture on a thread of its own into so many lanes; `decode` gets the queues.
    private func read<Result>(_ bytes: [UInt8], lanes: Int, _ decode: ([BatchQueue]) -> Result) -> Result {
        let queues = (0..<lanes).map { _ in BatchQueue(batches: 2) }
        let group = DispatchGroup()
        DispatchQueue(label: "reader").async(group: group) {
            let receiver = BatchingReceiver(queues)
            var capture = CaptureDecoder(receiver: receiver)
            var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
            _ = try? reader.read(to: &capture)
            capture.finish()
            receiver.finish()
        }
        let result = decode(queues)
        group.wait()
        return result
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
            read(bytes, lanes: 1) { BatchReplay($0[0], to: decoder).run { false } }
        }
        #expect(alone == parallel)
    }

    @Test(arguments: captures) func countsAddUp(capture: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        let options = try options()
        let alone = Decoder(options, sinks: [])
        var packets = CaptureDecoder(receiver: alone)
        var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
        _ = try? reader.read(to: &packets)
        packets.finish()
        let sum = read(bytes, lanes: 2) { queues in
            let other = Mutex(Summary())
            let group = DispatchGroup()
            DispatchQueue(label: "lane").async(group: group) {
                let decoder = Decoder(options, sinks: [])
                BatchReplay(queues[1], to: decoder).run { false }
                other.withLock { $0 = decoder.summary }
            }
            let decoder = Decoder(options, sinks: [])
            BatchReplay(queues[0], to: decoder).run { false }
            group.wait()
            decoder.add(other.withLock { $0 })
            return decoder.summary
        }
        #expect(sum == alone.summary)
    }

    @Test func whoHasEnoughStopsReadingAlong() throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: "im-json/chat.pcap")))
        let decoder = Decoder(try options(), sinks: [])
        read(bytes, lanes: 1) { BatchReplay($0[0], to: decoder).run { true } }
        #expect(decoder.summary == Summary())
    }
}
