import LiveCapture
import Page
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// Where live data goes: the decoder with its sinks, and the files that keep packets and trace.
final class LiveRecording {
    /// The source of the data.
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

        /// Whether segments are seen, and not what a system has made of them.
        fileprivate var hasPackets: Bool { if case .capture = self { true } else { false } }

        fileprivate var goesOn: String {
            switch self {
            case .relay: "relaying goes on"
            case .capture: "capturing goes on"
            }
        }
    }

    /// The user's options.
    struct Request {
        var decoding: DecodingOptions
        var output: OutputOptions
        var records: RecordOptions
        var selection: SelectionOptions
        var status: StatusOptions
        /// What else takes the trace.
        var sinks: [any TraceSink] = []
        /// What else takes the packets of relayed connections.
        var journal: PacketJournal?
        /// The page, if there is one.
        var page: PageOutput?
        /// When it begins: nothing is recorded that was before.
        var start = WallClock.now()
    }

    let decoder: Decoder
    /// The packets of relayed connections, if they are kept.
    let packets: PacketRecorder?
    /// Packets as they were captured, if they are kept.
    let captured: CaptureRecord?
    private let traceFile: LineRecord?
    private let captureFile: RecordFile?
    private let shownFile: FileOutput
    private let display: StatusDisplay?

    /// What was counted.
    var summary: Summary { decoder.summary }

    /// Opens the files, which keep what they have until `begin` is called. Later failures are reported once, and the source
    /// continues; except for a capture's output if that is all that was requested: no files, no page and no check.
    ///
    /// - Parameter whenDone: called when the requested number of frames has been shown.
    init(of source: Source, _ request: Request, whenDone: @escaping () -> Void = {}) throws {
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        let (output, records) = (request.output, request.records)
        let whenBroken: (FileOutput.Failure) -> Void = { failure in
            warn("\(failure.message); nothing more is written there, \(source.goesOn)")
        }
        let start = request.start
        let file = try records.captureFile(start: start, whenBroken: whenBroken)
        captureFile = file
        switch source {
        case .relay:
            packets =
                file == nil && request.journal == nil
                ? nil : PacketRecorder(to: file, tool: Frametap.tool, start: start, journal: request.journal)
            captured = nil
        case .capture(let interface):
            packets = nil
            captured = file.map { CaptureRecord(to: $0, tool: Frametap.tool, interface: interface, start: start) }
        }
        traceFile = try records.traceFile(start: start, whenBroken: whenBroken)
        display = request.status.display()
        // Everything is recorded; only a part of it may be shown.
        var sinks: [any TraceSink] = []
        if let packets { sinks.append(packets.frames) }
        if let traceFile {
            sinks.append(
                NDJSONWriter(to: traceFile, source: source.name, tool: Frametap.tool, bodyLimit: output.bodyLimit))
        }
        let isRecorded = records.write != nil || records.trace != nil || request.selection.extract != nil
        let isNeeded =
            if case .capture = source {
                !isRecorded && request.page == nil && !request.selection.failing.isGiven
            } else { false }
        shownFile = try output.open(keepsContent: true, endsOnSignal: true) { failure in
            if isNeeded { failure.endProcess() } else { whenBroken(failure) }
        }
        let shown = output.sink(
            to: shownFile, source: source.name, failing: request.selection.failing.checked)
        sinks += try request.selection.apply(to: shown, whenDone: whenDone)
        if let display { sinks.append(display.status) }
        sinks += request.sinks
        let pageSink = request.page?.sink(source: source.name, hasPackets: source.hasPackets)
        if let pageSink { sinks.append(pageSink) }
        decoder = Decoder(
            request.decoding,
            analyses: pageSink.map {
                Decoder.allAnalyses(replacing: request.decoding.extraAnalyses() + $0.analyses())
            }, sinks: sinks)
    }

    /// Begins all files. Call it when nothing can stop the command from starting: until then, files of earlier runs stay whole.
    func begin() {
        captureFile?.begin()
        traceFile?.begin()
        shownFile.begin()
    }

    /// Shows the status.
    ///
    /// - Parameters:
    ///   - queue: how full the recorder's queue is, from 0 to 1.
    ///   - dropped: what was lost, in words.
    func show(queue: Double? = nil, dropped: String? = nil) {
        traceFile?.advance()
        display?.update(queue: queue, dropped: dropped)
    }

    /// Removes the status line.
    func endShowing() { display?.end() }

    /// Reports at the end what the files lack because they could not be written.
    func warnOfDiscarded() {
        captureFile?.warnOfDiscarded()
        traceFile?.warnOfDiscarded()
    }
}

extension LiveRecording {
    /// Records relayed data until the queue is finished.
    func run(_ recorder: Recorder, _ queue: RecordingQueue) {
        // The relay goes first: it must not wait for the recorder on a busy machine, either.
        ThreadScheduling.yieldToOthers()
        recorder.run(isLate: { EndDeadline.dropsRest() }) {
            show(queue: queue.fill)
            queue.pause($0)
        }
        endShowing()
    }

    /// Makes everything captured so far visible, up to the given time.
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

extension RecordingQueue {
    /// Lets the recorder's thread pause; for less time if the queue becomes urgent.
    func pause(_ length: Interval) {
        let step: Int64 = 2_000
        var left = length.nanoseconds / 1_000
        repeat {
            usleep(UInt32(min(left, step)))
            left -= step
        } while left > 0 && !isUrgent
    }
}

extension Recorder {
    /// The adapter that feeds a recording with relayed data.
    convenience init(of recording: LiveRecording, queue: RecordingQueue) {
        self.init(
            queue: queue, decoder: recording.decoder, packets: recording.packets, patience: .milliseconds(500))
    }
}
