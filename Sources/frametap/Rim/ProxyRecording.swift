import NIOPosix
import Pipeline
import Proxy
import Streams
import Trace

/// The sinks of a proxy, and the recorder that feeds them.
struct ProxyRecording {
    private let recorder: Recorder
    private let decoder: Decoder
    private let traceFile: LineRecord?
    private let display: StatusDisplay?
    private let queue: RecordingQueue

    /// What there was no time left to record.
    var late: RecordingQueue.Loss { recorder.late }

    /// What was counted.
    var summary: Summary { decoder.summary }

    /// Opens the files. What fails later is said once, and the relay goes on.
    init(
        queue: RecordingQueue, source: String, decoding: DecodingOptions, output: OutputOptions, records: RecordOptions,
        selection: SelectionOptions, status: StatusOptions
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let whenBroken: (FileOutput.Failure) -> Void = { failure in
            complain("\(failure.message); nothing more is written there, relaying goes on")
        }
        var sinks: [any TraceSink] = []
        var packets: PacketRecorder?
        let start = WallClock.now()
        if let file = try records.captureFile(start: start, whenBroken: whenBroken) {
            let recorder = PacketRecorder(to: file, tool: Frametap.tool, start: start)
            packets = recorder
            sinks.append(recorder)
        }
        traceFile = try records.traceFile(start: start, whenBroken: whenBroken)
        if let traceFile {
            sinks.append(NDJSONWriter(to: traceFile, source: source, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        // What is recorded is everything; what is shown may be a part.
        sinks += try selection.apply(to: try output.sink(source: source, endsOnSignal: true, whenBroken: whenBroken)) {}
        display = status.display()
        if let display { sinks.append(display.status) }
        self.queue = queue
        decoder = Decoder(decoding, sinks: sinks)
        recorder = Recorder(queue: queue, decoder: decoder, packets: packets, patience: .milliseconds(500))
    }

    /// Records until the queue is finished.
    func run() {
        // Long enough to make batches of a busy relay's reads, too short for anybody who watches to notice.
        recorder.run(isLate: { EndDeadline.hasPassed }) {
            traceFile?.advance()
            display?.update(queue: queue.fill)
            usleep(2_000)
        }
        display?.end()
    }
}
