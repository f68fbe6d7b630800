import NIOPosix
import Pipeline
import Proxy
import Streams
import Trace

/// The sinks of a proxy, and the recorder that feeds them.
struct ProxyRecording {
    private let recorder: Recorder
    private let decoder: Decoder

    /// What was counted.
    var summary: Summary { decoder.summary }

    /// Opens the files. What fails later is said once, and the relay goes on.
    init(
        queue: RecordingQueue, source: String, decoding: DecodingOptions, output: OutputOptions, records: RecordOptions,
        selection: SelectionOptions
    ) throws {
        signal(SIGPIPE, SIG_IGN)
        let whenBroken: (FileOutput.Failure) -> Void = { failure in
            complain("\(failure.message); nothing more is written there, relaying goes on")
        }
        var sinks: [any TraceSink] = []
        var packets: PacketRecorder?
        if let path = records.write {
            let file = try FileOutput(creating: path)
            file.whenBroken = whenBroken
            file.endsOnSignal = true
            let recorder = PacketRecorder(to: file, tool: Frametap.tool, start: WallClock.now())
            packets = recorder
            sinks.append(recorder)
        }
        if let path = records.trace {
            let file = try FileOutput(creating: path)
            file.whenBroken = whenBroken
            file.endsOnSignal = true
            sinks.append(NDJSONWriter(to: file, source: source, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        // What is recorded is everything; what is shown may be a part.
        sinks += try selection.apply(to: try output.sink(source: source, endsOnSignal: true, whenBroken: whenBroken)) {}
        decoder = Decoder(decoding, sinks: sinks)
        recorder = Recorder(queue: queue, decoder: decoder, packets: packets)
    }

    /// Records until the queue is finished.
    func run() {
        // Long enough to make batches of a busy relay's reads, too short for anybody who watches to notice.
        recorder.run(isLate: { EndDeadline.hasPassed }) { usleep(2_000) }
    }
}
