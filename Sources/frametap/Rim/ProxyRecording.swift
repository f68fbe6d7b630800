import NIOPosix
import Pipeline
import Proxy
import Streams
import Trace

/// The sinks of a proxy, and the recorder that feeds them.
struct ProxyRecording {
    private let recorder: Recorder

    /// Opens the files. What fails later is said once, and the relay goes on.
    init(
        queue: RecordingQueue, source: String, decoding: DecodingOptions, output: OutputOptions, records: RecordOptions
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
            let recorder = PacketRecorder(to: file, tool: Frametap.tool, start: WallClock.now())
            packets = recorder
            sinks.append(recorder)
        }
        if let path = records.trace {
            let file = try FileOutput(creating: path)
            file.whenBroken = whenBroken
            sinks.append(NDJSONWriter(to: file, source: source, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        if let sink = try output.sink(source: source, whenBroken: whenBroken) { sinks.append(sink) }
        recorder = Recorder(queue: queue, decoder: Decoder(decoding, sinks: sinks), packets: packets)
    }

    /// Records until the queue is finished.
    func run() {
        // Long enough to make batches of a busy relay's reads, too short for anybody who watches to notice.
        recorder.run { usleep(2_000) }
    }
}
