import Captures
import Framing
import Packets
import Pipeline
import Streams
import Trace

/// Decodes captures in memory as `frametap decode` does, on one thread.
struct CaptureRun {
    private let format: Format
    private let form: TraceForm

    /// There is no such format.
    struct MissingFormat: Error {}

    /// - Parameters:
    ///   - format: the name of a built-in one.
    ///   - form: how the trace is written.
    init(_ format: String, as form: TraceForm) throws {
        guard let format = try BuiltInFormats.format(named: format) else { throw MissingFormat() }
        self.format = format
        self.form = form
    }

    /// Decodes a capture.
    ///
    /// - Returns: how many frames it had, and how many bytes were written.
    func decode(_ capture: [UInt8]) throws -> (frames: Int, written: Int) {
        let output = CountingOutput()
        let decoder = Decoder(
            DecodingOptions(.fixed(format)),
            sinks: [form.sink(to: output, source: "memory", tool: "benchmarks")].compactMap(\.self))
        var options = ReassemblyOptions()
        options.notices = false
        options.serverPorts = Set(format.ports)
        var packets = CaptureDecoder(options: options, receiver: decoder)
        var reader = CaptureReader(MemorySource(capture))
        try reader.read(to: &packets)
        packets.finish()
        decoder.finish()
        decoder.flush()
        return (decoder.summary.formats.values.reduce(0) { $0 + $1.bytes.frames }, output.count)
    }
}

/// An output that counts its bytes and lets them go, as /dev/null does.
private final class CountingOutput: ByteOutput {
    private(set) var count = 0

    func write(_ bytes: [UInt8]) { count += bytes.count }
}

/// A capture in memory, read as a file is.
private struct MemorySource: ByteSource {
    private let bytes: [UInt8]
    private var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(Never) -> Int {
        let count = min(buffer.count, bytes.count - offset)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + count])) }
        offset += count
        return count
    }
}
