import Packets
import Streams
import Synchronization

/// Whether enough of a capture was read.
final class ReadingProgress: Sendable {
    private let done = Atomic(false)

    /// Set by whoever has all that was asked for.
    var isDone: Bool {
        get { done.load(ordering: .relaxed) }
        set { done.store(newValue, ordering: .relaxed) }
    }
}

/// Reads capture files into a stream receiver; what goes wrong is said, and what was readable is kept.
struct CaptureReading {
    /// Whether a file could not be read to its end.
    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Reads the files in one time line.
    ///
    /// - Parameters:
    ///   - progress: where somebody may say that enough was read.
    ///   - whenRead: called after each reading of a file that is being followed.
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to receiver: any StreamReceiver,
        progress: ReadingProgress = ReadingProgress(), whenRead: () -> Void
    ) {
        let decoder = CaptureDecoder(options: options, receiver: receiver)
        if paths.count == 1 {
            readAlone(paths[0], decoder, progress, whenRead)
        } else {
            readMerged(paths, decoder, progress, whenRead)
        }
    }

    private mutating func readAlone(
        _ path: String, _ decoder: consuming CaptureDecoder, _ progress: ReadingProgress, _ whenRead: () -> Void
    ) {
        var decoder = decoder
        do {
            let input = try FileInput(path)
            defer { input.closeFile() }
            var reader = CaptureReader(input, chunk: input.isFollowed ? 64 << 10 : 1 << 20)
            let bar = ProgressBar(total: input.identity?.size)
            defer { bar?.clear() }
            while !progress.isDone, try reader.step(to: &decoder) != .end {
                if input.isFollowed { whenRead() }
                bar?.update(bytes: reader.bytesRead, packets: reader.packetCount)
            }
        } catch {
            complain(about: error, path)
        }
        decoder.finish()
        counters = decoder.counters
    }

    /// Connections go on from one file to another.
    private mutating func readMerged(
        _ paths: [String], _ decoder: consuming CaptureDecoder, _ progress: ReadingProgress, _ whenRead: () -> Void
    ) {
        var inputs: [(path: String, input: CaptureInput)] = []
        for path in paths {
            do {
                inputs.append((path, try CaptureInput(path)))
            } catch {
                complain(about: error, path)
            }
        }
        defer { for (_, input) in inputs { input.closeFile() } }
        let isFollowed = inputs.contains { $0.input.isFollowed }
        let bar = isFollowed ? nil : ProgressBar(total: inputs.reduce(0) { $0 + ($1.input.size ?? 0) })
        defer { bar?.clear() }
        var merge = CaptureMerge(inputs.map(\.input))
        var packets = MergedPackets(to: decoder)
        reading: while !progress.isDone {
            switch merge.step(to: &packets) {
            case .more:
                if isFollowed { whenRead() }
                bar?.update(bytes: merge.bytesRead, packets: packets.packetCount)
            case .failed(let index, let failure): complain(about: failure, inputs[index].path)
            case .stopped, .end: break reading
            }
        }
        packets.receiver.finish()
        counters = packets.receiver.counters
    }

    private mutating func complain(about error: any Error, _ path: String) {
        hasFailed = true
        frametap.complain(Self.describe(error, path))
    }

    static func describe(_ error: any Error, _ path: String) -> String {
        switch error {
        case CaptureReadFailure<Trouble>.damaged(let damage):
            "\(path == "-" ? "standard input" : path): \(damage)"
        case CaptureReadFailure<Trouble>.unreadable(let trouble): "\(trouble)"
        default: "\(error)"
        }
    }
}
