import LiveCapture
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// What becomes of what is seen live: the decoder with its sinks, and the files that keep packets and trace.
final class LiveRecording {
    /// Where it comes from.
    enum Source {
        /// The proxy's clients and servers, by these listeners.
        case relay(String)
        /// An interface.
        case capture(CaptureRecord.Interface)

        var name: String {
            switch self {
            case .relay(let listeners): listeners
            case .capture(let interface): "capture of \(interface.name)"
            }
        }

        fileprivate var goesOn: String {
            switch self {
            case .relay: "relaying goes on"
            case .capture: "capturing goes on"
            }
        }
    }

    /// What the user asks for.
    struct Request {
        var decoding: DecodingOptions
        var output: OutputOptions
        var records: RecordOptions
        var selection: SelectionOptions
        var status: StatusOptions
    }

    let decoder: Decoder
    /// The packets of relayed connections, where they are kept.
    let packets: PacketRecorder?
    /// Packets as they were captured, where they are kept.
    let captured: CaptureRecord?
    private let traceFile: LineRecord?
    private let display: StatusDisplay?

    /// What was counted.
    var summary: Summary { decoder.summary }

    /// Opens the files. What fails later is reported once, and the source goes on; but for a capture's output where that is all that was
    /// asked for.
    ///
    /// - Parameter whenDone: called when as many frames were shown as are wanted.
    init(of source: Source, _ request: Request, whenDone: @escaping () -> Void = {}) throws {
        signal(SIGPIPE, SIG_IGN)
        let (output, records) = (request.output, request.records)
        let whenBroken: (FileOutput.Failure) -> Void = { failure in
            warn("\(failure.message); nothing more is written there, \(source.goesOn)")
        }
        let start = WallClock.now()
        let file = try records.captureFile(start: start, whenBroken: whenBroken)
        switch source {
        case .relay:
            packets = file.map { PacketRecorder(to: $0, tool: Frametap.tool, start: start) }
            captured = nil
        case .capture(let interface):
            packets = nil
            captured = file.map { CaptureRecord(to: $0, tool: Frametap.tool, interface: interface, start: start) }
        }
        traceFile = try records.traceFile(start: start, whenBroken: whenBroken)
        display = request.status.display()
        // What is recorded is everything; what is shown may be a part.
        var sinks: [any TraceSink] = []
        if let packets { sinks.append(packets) }
        if let traceFile {
            sinks.append(
                NDJSONWriter(to: traceFile, source: source.name, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        let isNeeded = if case .capture = source { records.write == nil && records.trace == nil } else { false }
        let shown = try output.sink(source: source.name, endsOnSignal: true) { failure in
            if isNeeded { failure.endProcess() } else { whenBroken(failure) }
        }
        sinks += try request.selection.apply(to: shown, whenDone: whenDone)
        if let display { sinks.append(display.status) }
        decoder = Decoder(request.decoding, sinks: sinks)
    }

    /// Shows how things stand.
    ///
    /// - Parameters:
    ///   - queue: how full the recorder's queue is, from 0 to 1.
    ///   - dropped: what was lost, for people.
    func show(queue: Double? = nil, dropped: String? = nil) {
        traceFile?.advance()
        display?.update(queue: queue, dropped: dropped)
    }

    /// Takes the status line away.
    func endShowing() { display?.end() }
}

extension LiveRecording {
    /// Records what is relayed, until the queue is finished.
    func run(_ recorder: Recorder, _ queue: RecordingQueue) {
        // Long enough to make batches of a busy relay's reads, too short for anybody who watches to notice.
        recorder.run(isLate: { EndDeadline.hasPassed }) {
            show(queue: queue.fill)
            usleep(2_000)
        }
        endShowing()
    }

    /// Makes visible what was captured so far, at a time that has come.
    func flush(at time: Timestamp, lost: Int) {
        captured?.advance(to: time)
        captured?.flush()
        decoder.flush()
        show(dropped: lost > 0 ? "\(Quantities.counted(lost, "packet")) dropped by the kernel" : nil)
    }

    /// Ends a capture.
    func finish(at time: Timestamp, skipped: [(kind: String, packets: Int)]) {
        endShowing()
        captured?.finish(at: time)
        decoder.finish(skipped: skipped)
        decoder.flush()
    }
}

extension Recorder {
    /// What feeds a recording with what is relayed.
    convenience init(of recording: LiveRecording, queue: RecordingQueue) {
        self.init(
            queue: queue, decoder: recording.decoder, packets: recording.packets, patience: .milliseconds(500))
    }
}
