import Dispatch
import Foundation
import Framing
import Packets
import Pipeline
import Streams
import TestSupport
import Testing
import Trace

/// However few connections of a capture stay awake, its trace is the same.
@Suite struct DormantCaptureTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// Captures of Ethernet, of all formats.
    static let captures: [String] = ParallelDecodingTests.captures.filter { !$0.contains("proxy") }

    /// Many pairs of hosts, which all have the same conversation.
    private func trace(_ bytes: [UInt8], awakeLimit: Int, isParallel: Bool) throws -> [String] {
        let outputs = [MemoryOutput(), MemoryOutput()]
        let decoder = Decoder(
            DecodingOptions(.automatic(try BuiltInFormats.allWithVariants())),
            sinks: [NDJSONWriter(to: outputs[0], source: "", tool: ""), TextWriter(to: outputs[1])])
        if isParallel {
            let queue = BatchQueue(batches: 2)
            let group = DispatchGroup()
            DispatchQueue(label: "reader").async(group: group) {
                let receiver = BatchingReceiver(queue)
                Self.read(bytes, awakeLimit, to: receiver)
                receiver.finish()
            }
            BatchReplay(queue, to: decoder, awakeLimit: awakeLimit).run { false }
            group.wait()
        } else {
            Self.read(bytes, awakeLimit, to: decoder)
        }
        decoder.finish()
        decoder.flush()
        return outputs.map(\.text)
    }

    private static func read(_ bytes: [UInt8], _ awakeLimit: Int, to receiver: any StreamReceiver) {
        var options = ReassemblyOptions()
        options.awakeLimit = awakeLimit
        var copies = CopiedPackets(to: CaptureDecoder(options: options, receiver: receiver), pairs: 5)
        var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
        _ = try? reader.read(to: &copies)
        copies.receiver.finish()
    }

    @Test(arguments: captures) func theTraceIsTheSame(capture: String) throws {
        let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: capture)))
        guard bytes.count < 60_000 else { return }
        let expected = try trace(bytes, awakeLimit: .max, isParallel: false)
        #expect(try trace(bytes, awakeLimit: 0, isParallel: false) == expected)
        #expect(try trace(bytes, awakeLimit: 2, isParallel: false) == expected)
        #expect(try trace(bytes, awakeLimit: 1, isParallel: true) == expected)
    }
}
