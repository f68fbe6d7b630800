import LiveCapture
import Pipeline
import Proxy
import Streams
import Trace

/// What becomes of captured packets: the decoder with its sinks, and the file that keeps the packets.
final class LiveRecording {
    let decoder: Decoder
    /// The packets as they were captured, where they are kept.
    let record: CaptureRecord?
    let display: StatusDisplay?
    let traceFile: LineRecord?

    /// Opens the files. What fails later is said once, and capturing goes on; but for the output that was all that was asked for.
    init(
        of capture: borrowing LiveCapture, filter: String?, snapLength: Int, decoding: DecodingOptions,
        output: OutputOptions, records: RecordOptions, selection: SelectionOptions, status: StatusOptions,
        progress: ReadingProgress
    ) throws {
        let hasRecords = records.write != nil || records.trace != nil
        let whenBroken: (FileOutput.Failure) -> Void = { failure in
            complain("\(failure.message); nothing more is written there, capturing goes on")
        }
        let start = WallClock.now()
        let source = "capture of \(capture.interface)"
        let interface = CaptureRecord.Interface(
            name: capture.interface, linkType: capture.linkType, snapLength: snapLength, filter: filter)
        record = try records.captureFile(start: start, whenBroken: whenBroken).map {
            CaptureRecord(to: $0, tool: Frametap.tool, interface: interface, start: start)
        }
        traceFile = try records.traceFile(start: start, whenBroken: whenBroken)
        display = status.display()
        var sinks: [any TraceSink] = []
        if let traceFile {
            sinks.append(NDJSONWriter(to: traceFile, source: source, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        if let display { sinks.append(display.status) }
        let shown = try output.sink(source: source, endsOnSignal: true) { failure in
            if hasRecords { whenBroken(failure) } else { failure.endProcess() }
        }
        sinks += try selection.apply(to: shown) { progress.isDone = true }
        decoder = Decoder(decoding, sinks: sinks)
    }

    /// Makes visible what was taken so far, at a time that has come.
    func flush(at time: Timestamp, lost: Int) {
        record?.advance(to: time)
        record?.flush()
        traceFile?.advance()
        decoder.flush()
        display?.update(dropped: lost > 0 ? "\(Quantities.counted(lost, "packet")) dropped by the kernel" : nil)
    }

    /// Ends everything.
    func finish(at time: Timestamp, passedOver: [(kind: String, packets: Int)]) {
        display?.end()
        record?.finish(at: time)
        decoder.finish(passedOver: passedOver)
        decoder.flush()
    }
}
