import Benchmark
import Captures
import Trace

/// One capture and how it is decoded.
private struct Case {
    var name: String
    var shape: CaptureShape
    var format = "len16-id"
    var form = TraceForm.summary
    /// How many frames there are; those still under way at the end of a connection are not counted.
    var frames: ClosedRange<Int>
}

private let small = CaptureShape.frames(connections: 100, count: 1_000_000, payload: 40)

private let cases = [
    Case(name: "1 M frames of 45 bytes, summary", shape: small, frames: 995_000...1_000_000),
    Case(name: "1 M frames of 45 bytes, ndjson", shape: small, form: .ndjson, frames: 995_000...1_000_000),
    Case(name: "1 M frames of 45 bytes, text", shape: small, form: .text, frames: 995_000...1_000_000),
    Case(
        name: "100,000 frames of 1,005 bytes, summary",
        shape: .frames(connections: 100, count: 100_000, payload: 1_000),
        frames: 99_500...100_000),
    Case(
        name: "500,000 im-json frames, summary", shape: .chat(connections: 100, count: 500_000), format: "im-json",
        frames: 497_500...500_000),
    Case(
        name: "100,000 segments in order", shape: .segments(count: 100_000, reversed: false), frames: 100_000...100_000),
    Case(
        name: "100,000 segments reversed", shape: .segments(count: 100_000, reversed: true), frames: 100_000...100_000),
    Case(name: "1 MiB in 1-byte segments", shape: .bytewise(size: 1 << 20), format: "im-json", frames: 1...1),
    Case(name: "16 MiB in 1-byte segments", shape: .bytewise(size: 16 << 20), format: "im-json", frames: 1...1),
]

let benchmarks: @Sendable () -> Void = {
    for one in cases {
        Benchmark(
            one.name,
            configuration: .init(
                // Instructions are those of the processor's counters: 0 where a virtual machine has none. How often memory is
                // taken is not among the metrics: without the package's traits it would read 0. scripts/guard counts both.
                metrics: [.wallClock, .cpuTotal, .throughput, .instructions],
                warmupIterations: 1, scalingFactor: .one, maxDuration: .seconds(2), maxIterations: 20)
        ) { benchmark, capture in
            let run = try CaptureRun(one.format, as: one.form)
            for _ in benchmark.scaledIterations {
                benchmark.startMeasurement()
                let (frames, written) = try run.decode(capture)
                benchmark.stopMeasurement()
                blackHole(written)
                if !one.frames.contains(frames) {
                    benchmark.error("\(one.name): \(frames) frames, expected \(one.frames)")
                }
            }
        } setup: {
            one.shape.bytes
        }
    }
}
