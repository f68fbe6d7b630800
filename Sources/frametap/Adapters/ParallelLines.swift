import Dispatch
import Platform
import Synchronization
import Trace

/// Renders the lines of a trace on other threads, and writes them in order, on the thread that produces the trace.
final class ParallelLines {
    /// A batch on its way.
    private struct Pending {
        let batch: LineBatch
        let isRendered = DispatchSemaphore(value: 0)
    }

    /// What the rendering threads share.
    private final class Work: Sendable {
        private let pending = Mutex<[Pending]>([])
        private let count = DispatchSemaphore(value: 0)

        func add(_ next: Pending) {
            pending.withLock { $0.append(next) }
            count.signal()
        }

        /// The next batch to render; waits for one.
        func next() -> Pending? {
            count.wait()
            return pending.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        }

        /// A thread ends that waits for a batch.
        func end() { count.signal() }
    }

    private let output: any ByteOutput
    private let work = Work()
    private let threads: Int
    /// The batches that were handed on and not written yet, in order.
    private var pending: [Pending] = []
    private var free: [LineBatch] = []

    /// Smaller captures are read before other threads would have started.
    private static let leastSize = 4 << 20
    /// Lines with longer bodies would take too much memory. Those of text examine up to `BodyPreview.mostBytes`, 16 KiB and one character.
    private static let longestBody = 20 << 10

    /// A sink that writes a trace in lines, as quickly as the processor allows; nil if the captures are small, or followed, or if long
    /// bodies are shown.
    static func sink(
        _ form: LineForm, for paths: [String], to output: any ByteOutput, source: String, threads: Int
    ) -> (any TraceSink)? {
        guard form.bodyLimit <= longestBody, !paths.isEmpty, ParallelReading.suits(paths),
            paths.reduce(0, { $0 + (FileStatus(of: $1)?.size ?? 0) }) >= leastSize
        else { return nil }
        let lines = ParallelLines(form, to: output, threads: threads)
        return LineBatcher(form, source: source, tool: Frametap.tool, handOn: lines.take, whenFlushed: lines.writeAll)
    }

    private init(_ form: LineForm, to output: any ByteOutput, threads: Int) {
        (self.output, self.threads) = (output, threads)
        let work = work
        for _ in 0..<threads {
            // A queue of its own always has a thread, whatever waits elsewhere.
            DispatchQueue(label: "lines").async {
                let renderer = LineRenderer(form)
                while let next = work.next() {
                    renderer.render(next.batch)
                    next.isRendered.signal()
                }
            }
        }
    }

    deinit {
        for _ in 0..<threads { work.end() }
    }

    /// Takes a batch to be rendered; returns an empty one.
    private func take(_ batch: LineBatch) -> LineBatch {
        let next = Pending(batch: batch)
        pending.append(next)
        work.add(next)
        if pending.count > 2 * threads + 2 { write(pending.removeFirst()) }
        return free.popLast() ?? LineBatch()
    }

    private func writeAll() {
        for next in pending { write(next) }
        pending.removeAll()
    }

    /// Writes a batch once it is rendered.
    private func write(_ next: Pending) {
        next.isRendered.wait()
        output.write(next.batch.lines)
        next.batch.empty()
        free.append(next.batch)
    }
}
