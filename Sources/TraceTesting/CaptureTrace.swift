import Foundation
import Framing
import Packets
import Pipeline
import Streams
import Trace

/// Why there is no trace.
public struct TraceTestingError: Error, CustomStringConvertible {
    /// The problem, and what was expected.
    public var description: String
}

/// Decodes captures that are in memory.
enum CaptureTrace {
    private struct WholeFile: ByteSource {
        let bytes: [UInt8]
        var position = 0

        mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
            let count = min(buffer.count, bytes.count - position)
            buffer.copyBytes(from: bytes[position..<position + count])
            position += count
            return count
        }
    }

    /// The trace of a capture.
    static func events(of bytes: [UInt8], name: String, format: String?, bodyLimit: Int) throws -> [TraceEvent] {
        var events: [TraceEvent] = []
        let decoder = Decoder(
            try options(format: format), sinks: [sink(source: name, bodyLimit: bodyLimit) { events.append($0) }])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        reassembly.serverPorts = Set(try BuiltInFormats.all().flatMap(\.ports))
        var packets = CaptureDecoder(options: reassembly, receiver: decoder)
        var reader = CaptureReader(WholeFile(bytes: bytes))
        do {
            try reader.read(to: &packets)
        } catch {
            throw TraceTestingError(description: "\(name): \(error)")
        }
        packets.finish()
        decoder.finish()
        return events
    }

    static func sink(
        source: String, bodyLimit: Int = EventSink.defaultBodyLimit, _ take: @escaping (TraceEvent) -> Void
    ) -> EventSink {
        EventSink(source: source, tool: "frametap TraceTesting", bodyLimit: bodyLimit, take)
    }

    /// What a decoder looks for.
    static func options(format name: String?) throws -> DecodingOptions {
        guard let name else { return DecodingOptions(.automatic(try BuiltInFormats.all())) }
        if let format = try BuiltInFormats.format(named: name) { return DecodingOptions(.fixed(format)) }
        guard name.hasSuffix(".yaml") || name.hasSuffix(".yml") else {
            let known = BuiltInFormats.names.joined(separator: ", ")
            throw TraceTestingError(
                description: "there is no format \(name); built in are \(known). A format file's name ends in .yaml")
        }
        let text = try String(contentsOf: URL(fileURLWithPath: name), encoding: .utf8)
        let folder = URL(fileURLWithPath: name).deletingLastPathComponent()
        let format = try FormatLoader.load(text, file: name) { other in
            try? String(contentsOf: URL(fileURLWithPath: other, relativeTo: folder), encoding: .utf8)
        }
        return DecodingOptions(.fixed(format))
    }
}
