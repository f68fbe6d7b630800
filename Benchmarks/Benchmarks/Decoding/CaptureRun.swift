import FrametapCore

/// Decodes captures in memory as `frametap decode` does, on one thread.
struct CaptureRun {
    private let decoding: CaptureDecoding
    private let form: TraceForm

    /// - Parameters:
    ///   - format: the name of a built-in one.
    ///   - form: how the trace is written.
    init(_ format: String, as form: TraceForm) throws {
        decoding = try CaptureDecoding(format: format)
        self.form = form
    }

    /// Decodes a capture.
    ///
    /// - Returns: how many frames it had, and how many bytes were written.
    func decode(_ capture: [UInt8]) throws -> (frames: Int, written: Int) {
        let output = CountingOutput()
        let sinks = [form.sink(to: output, source: "memory", tool: "benchmarks")].compactMap(\.self)
        let summary = try decoding.read(capture, to: sinks)
        return (summary.formats.values.reduce(0) { $0 + $1.bytes.frames }, output.count)
    }
}

/// An output that counts its bytes and discards them, as /dev/null does.
private final class CountingOutput: ByteOutput {
    private(set) var count = 0

    func write(_ bytes: [UInt8]) { count += bytes.count }
}
