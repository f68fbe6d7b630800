import Foundation
import Framing
import Packets
import Pipeline
import TestSupport
import Testing
import Trace

/// Every fixture with a golden trace decodes to exactly that (`tools/record-fixtures --traces` makes them).
@Suite struct GoldenTraceTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "fixtures")

    /// The golden traces, as paths in `fixtures`.
    static let traces: [String] = {
        let all = FileManager.default.enumerator(atPath: fixtures.path)?.compactMap { $0 as? String } ?? []
        return all.filter { $0.hasSuffix(".ndjson") }.sorted()
    }()

    /// Formats that cannot be recognised by their bytes: they are requested.
    private static let unmarked: Set = ["fixed"]

    @Test func thereAreGoldenTraces() {
        for format in BuiltInFormats.names {
            #expect(Self.traces.contains { $0.hasPrefix("\(format)/") }, "\(format)")
        }
    }

    @Test(arguments: traces) func decodesToItsGoldenTrace(trace: String) throws {
        let file = Self.fixtures.appending(path: trace)
        let capture = [UInt8](try Data(contentsOf: file.deletingPathExtension().appendingPathExtension("pcap")))
        let format = String(trace.prefix { $0 != "/" })
        var options = DecodingOptions(.automatic(try BuiltInFormats.allWithVariants()))
        if Self.unmarked.contains(format) {
            options.choice = .fixed(try #require(try BuiltInFormats.format(named: format)))
        }
        let output = MemoryOutput()
        let decoder = Decoder(
            options, sinks: [NDJSONWriter(to: output, source: "", tool: "", bodyLimit: 4_096)])
        var reassembly = ReassemblyOptions()
        reassembly.serverPorts = Set(try BuiltInFormats.all().flatMap(\.ports))
        reassembly.notices = false
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        var reader = CaptureReader(WholeFile(bytes: capture))
        try reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()

        // All but the first line, which names the file and the program.
        let actual = output.text.split(separator: "\n").dropFirst()
        let expected = String(decoding: try Data(contentsOf: file), as: UTF8.self).split(separator: "\n").dropFirst()
        #expect(actual.count == expected.count)
        let different = zip(actual, expected).enumerated().first { $0.element.0 != $0.element.1 }
        #expect(different == nil, "line \((different?.offset ?? 0) + 2) of \(trace) differs")
        #expect(
            actual.filter { $0.hasPrefix("{\"event\":\"format\"") }.allSatisfy {
                $0.contains("\"format\":\"\(format)\"")
            })
    }

    private struct WholeFile: ByteSource {
        let bytes: [UInt8]
        private var position = 0

        init(bytes: [UInt8]) {
            self.bytes = bytes
        }

        mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
            let count = min(buffer.count, bytes.count - position)
            buffer.copyBytes(from: bytes[position..<position + count])
            position += count
            return count
        }
    }
}
