import Packets
import Platform
import Streams
import Synchronization

/// Whether enough of a capture was read.
final class ReadingProgress: Sendable {
    private let done = Atomic(false)
    private let interrupted = Atomic(false)
    private let abandoned = Atomic(false)
    private let failed = Atomic(false)

    /// Whether to stop reading. Data read so far still counts, unless a consumer already has all it asked for.
    var isOver: Bool { isDone || isInterrupted || isAbandoned }

    /// Whether what is being read will be read again in another way.
    var isAbandoned: Bool { abandoned.load(ordering: .relaxed) }

    /// Stops reading in this way. After a signal nothing is read again, so what was read so far counts.
    func abandon() {
        if !isInterrupted { abandoned.store(true, ordering: .relaxed) }
    }

    /// Reading starts over.
    func startOver() { abandoned.store(false, ordering: .relaxed) }

    /// Whether a signal ended reading.
    var isInterrupted: Bool { interrupted.load(ordering: .relaxed) }

    /// Whether a signal ended reading too early. It is the usual end of what is followed.
    ///
    /// - Parameter paths: what was read.
    func wasCutShort(_ paths: [String]) -> Bool { isInterrupted && !paths.contains { FileInput.isFollowed($0) } }

    /// Makes INT and TERM end reading cleanly.
    func endingOnSignals() -> EndSignals {
        EndSignals { self.interrupted.store(true, ordering: .relaxed) }
    }

    /// Set by a consumer that could not keep what it was given; reading goes on for the others.
    var hasFailed: Bool {
        get { failed.load(ordering: .relaxed) }
        set { failed.store(newValue, ordering: .relaxed) }
    }

    /// Set by a consumer that has all it asked for.
    var isDone: Bool {
        get { done.load(ordering: .relaxed) }
        set { done.store(newValue, ordering: .relaxed) }
    }
}

/// Reads capture files into a stream receiver; errors are kept for reporting, and so is the readable part.
struct CaptureReading {
    /// Whether to show progress on a terminal.
    var showsProgress = true
    /// Whether `whenRead` is called a few times a second, too, for files that are not followed.
    var isPaced = false
    /// The errors for files that could not be read to their ends.
    private(set) var complaints: [String] = []
    private(set) var counters = CaptureCounters()
    /// Whether a limit that all connections share was reached.
    private(set) var hasReachedLimit = false

    /// Whether a file could not be read to its end.
    var hasFailed: Bool { !complaints.isEmpty }

    /// Reads the files as one timeline.
    ///
    /// - Parameters:
    ///   - shared: reads the only file, of which `options` has a share; nil: the files are opened.
    ///   - plan: what is read of the files; nil: all.
    ///   - progress: where a consumer may report that it has enough.
    ///   - isFutile: whether reading is to be abandoned; called between packets with whether reassembly has reached a limit that
    ///     all connections share.
    ///   - whenRead: called after each reading of a file that is being followed.
    mutating func read(
        _ paths: [String], from shared: SharedCaptureReader? = nil, options: ReassemblyOptions,
        to receiver: any StreamReceiver, plan: ReadingPlan? = nil, progress: ReadingProgress = ReadingProgress(),
        isFutile: (_ hasReachedLimit: Bool) -> Bool = { _ in false },
        whenRead: () -> Void
    ) {
        var options = options
        options.selection = plan?.selection
        let decoder = CaptureDecoder(options: options, receiver: receiver)
        if paths.count == 1, plan?.extents.isEmpty ?? true {
            readAlone(paths[0], shared, decoder, progress, isFutile, whenRead)
        } else {
            readMerged(paths, decoder, plan, progress, isFutile, whenRead)
        }
    }

    private mutating func readAlone(
        _ path: String, _ shared: SharedCaptureReader?, _ decoder: consuming CaptureDecoder,
        _ progress: ReadingProgress, _ isFutile: (Bool) -> Bool, _ whenRead: () -> Void
    ) {
        var decoder = decoder
        do {
            if var shared {
                try step(&shared, to: &decoder, total: FileStatus(of: path)?.size, progress, isFutile) {}
            } else {
                let input = try FileInput(path, progress)
                defer { input.closeFile() }
                var reader = CaptureReader(input, chunk: input.isFollowed ? 64 << 10 : 1 << 20)
                let isFollowed = input.isFollowed
                var pace = OutputPace()
                try step(&reader, to: &decoder, total: input.identity?.size, progress, isFutile) {
                    if isFollowed || isPaced && pace.isDue() { whenRead() }
                }
            }
        } catch {
            // If a signal ends the reading of a followed file, that may be in the middle of a packet.
            if !progress.isInterrupted { warn(about: error, path) }
        }
        if !progress.isAbandoned { decoder.finish() }
        (counters, hasReachedLimit) = (decoder.counters, decoder.hasReachedLimit)
    }

    /// Reads to the end, or until that is no longer wanted.
    private func step<Reader: SteppingReader>(
        _ reader: inout Reader, to decoder: inout CaptureDecoder, total: Int?, _ progress: ReadingProgress,
        _ isFutile: (Bool) -> Bool, _ whenRead: () -> Void
    ) throws(CaptureReadFailure<Reader.Failure>) {
        let bar = showsProgress ? ProgressBar(total: total) : nil
        defer { bar?.clear() }
        while !progress.isOver, try reader.step(to: &decoder) != .end {
            whenRead()
            bar?.update(bytes: reader.bytesRead, packets: reader.packetCount)
            if isFutile(decoder.hasReachedLimit) { progress.abandon() }
        }
    }

    /// Connections continue from one file to the next.
    private mutating func readMerged(
        _ paths: [String], _ decoder: consuming CaptureDecoder, _ plan: ReadingPlan?, _ progress: ReadingProgress,
        _ isFutile: (Bool) -> Bool, _ whenRead: () -> Void
    ) {
        var timeline = TimelineReading(paths, progress, extents: plan?.extents ?? [:])
        let isFollowed = timeline.isFollowed
        var pace = OutputPace()
        var packets = MergedPackets(to: decoder)
        timeline.read(to: &packets, progress: progress, showsProgress: showsProgress) { packets in
            if isFollowed || isPaced && pace.isDue() { whenRead() }
            if isFutile(packets.receiver.hasReachedLimit) { progress.abandon() }
        }
        complaints += timeline.complaints
        // Time goes on up to the last packet, whether that was read or not.
        if let end = plan?.end, !progress.isOver { packets.receiver.captured(until: end) }
        if !progress.isAbandoned { packets.receiver.finish() }
        (counters, hasReachedLimit) = (packets.receiver.counters, packets.receiver.hasReachedLimit)
    }

    private mutating func warn(about error: any Error, _ path: String) {
        complaints.append(Self.describe(error, path))
    }

    private static func shown(_ path: String) -> String { path == "-" ? "standard input" : path }

    private static func advice(on compression: CaptureCompression, _ path: String) -> String {
        let file = path == "-" ? "FILE" : ShellWord.quoted(path)
        return "\(shown(path)) is compressed with \(compression.rawValue), which is not read; expand it first: "
            + "\(compression.command) \(file) | frametap decode -"
    }

    static func describe(_ error: any Error, _ path: String) -> String {
        switch error {
        case CaptureReadFailure<CommandError>.damaged(let damage) where damage.kind == .trace && damage.isExpanded:
            "\(shown(path)) is a compressed trace, not a capture: expand it; then frametap view shows it, diff compares it, serve "
                + "and connect replay it"
        case CaptureReadFailure<CommandError>.damaged(let damage) where damage.kind == .trace:
            "\(shown(path)) is a trace, not a capture: frametap view shows traces, diff compares them, serve and connect "
                + "replay them"
        case CaptureReadFailure<CommandError>.damaged(let damage):
            damage.compression.map { advice(on: $0, path) } ?? "\(shown(path)): \(damage)"
        case CaptureReadFailure<CommandError>.unreadable(let error): "\(error)"
        case CaptureReadFailure<any Error>.damaged(let damage):
            describe(CaptureReadFailure<CommandError>.damaged(damage), path)
        case CaptureReadFailure<any Error>.unreadable(let error): "\(error)"
        default: "\(error)"
        }
    }
}
