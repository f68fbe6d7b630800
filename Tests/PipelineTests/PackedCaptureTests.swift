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
@Suite struct PackedCaptureTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// Those that are not too long to be decoded many times, and their formats.
    static let captures: [String] = ParallelDecodingTests.captures.filter { capture in
        let size = try? FileManager.default.attributesOfItem(atPath: fixtures.appending(path: capture).path)[.size]
        return (size as? Int ?? 0) < 8_000
    }

    private static let builtIn = Result { try BuiltInFormats.allWithVariants() }
    private static let examples = Result { try ExampleFormats.recognised() }

    private static func options(for capture: String, examples: [Format] = []) throws -> DecodingOptions {
        // It cannot be recognized by its bytes.
        if capture.hasPrefix("fixed/") {
            return DecodingOptions(.fixed(try #require(try BuiltInFormats.format(named: "fixed"))))
        }
        return DecodingOptions(.automatic(try builtIn.get() + examples))
    }

    /// The trace and the text of what is fed to a decoder.
    private func outputs(_ options: DecodingOptions, _ feed: (Decoder) -> Void) -> [String] {
        let outputs = [MemoryOutput(), MemoryOutput()]
        let decoder = Decoder(
            options, sinks: [NDJSONWriter(to: outputs[0], source: "", tool: ""), TextWriter(to: outputs[1])])
        feed(decoder)
        decoder.finish()
        decoder.flush()
        return outputs.map(\.text)
    }

    private static func read(
        _ bytes: [UInt8], pairs: Int = 1, awakeLimit: Int = .max, to receiver: any StreamReceiver
    ) {
        var options = ReassemblyOptions()
        options.awakeLimit = awakeLimit
        var copies = CopiedPackets(to: CaptureDecoder(options: options, receiver: receiver), pairs: pairs)
        var reader = CaptureReader(CaptureBytes(bytes), chunk: 1 << 14)
        _ = try? reader.read(to: &copies)
        copies.receiver.finish()
    }

    private static func bytes(of capture: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: fixtures.appending(path: capture)))
    }

    @Test func thereAreCaptures() { #expect(Self.captures.count > 100) }

    /// Connections that can be packed are, after each event.
    @Test(arguments: captures) func afterEachEvent(capture: String) throws {
        let bytes = try Self.bytes(of: capture)
        let options = try Self.options(for: capture, examples: try Self.examples.get())
        let expected = outputs(options) { Self.read(bytes, to: $0) }
        var rests: Int?
        let actual = outputs(options) { decoder in
            let receiver = RestingReceiver(decoder)
            Self.read(bytes, to: receiver)
            rests = receiver.hasLegs ? nil : receiver.rests
        }
        #expect(actual == expected)
        // Before its first byte, any connection with one leg can.
        #expect(rests != 0)
    }

    /// Many pairs of hosts, which all have the same conversation, few of which are not packed.
    @Test(arguments: captures.filter { !$0.contains("proxy") }) func withOthers(capture: String) throws {
        let (bytes, options) = (try Self.bytes(of: capture), try Self.options(for: capture))
        let expected = outputs(options) { Self.read(bytes, pairs: 3, to: $0) }
        #expect(outputs(options) { Self.read(bytes, pairs: 3, awakeLimit: 0, to: $0) } == expected)
        let parallel = outputs(options) { decoder in
            let queue = BatchQueue(batches: 2)
            let group = DispatchGroup()
            DispatchQueue(label: "reader").async(group: group) {
                let receiver = BatchingReceiver(queue)
                Self.read(bytes, pairs: 3, awakeLimit: 0, to: receiver)
                receiver.finish()
            }
            BatchReplay(queue, to: decoder, awakeLimit: 0).run { false }
            group.wait()
        }
        #expect(parallel == expected)
    }
}
