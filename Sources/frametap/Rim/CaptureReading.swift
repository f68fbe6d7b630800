import Packets
import Streams

/// Whether enough of a capture was read.
final class ReadingProgress {
    /// Set by whoever has all that was asked for.
    var isDone = false
}

/// Reads capture files into a stream receiver; what goes wrong is said, and what was readable is kept.
struct CaptureReading {
    /// Whether a file could not be read to its end.
    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Reads the files, one after another.
    ///
    /// - Parameters:
    ///   - progress: where somebody may say that enough was read.
    ///   - whenRead: called after each reading of a file that is being followed.
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to receiver: any StreamReceiver,
        progress: ReadingProgress = ReadingProgress(), whenRead: () -> Void
    ) {
        var decoder = CaptureDecoder(options: options, receiver: receiver)
        for path in paths where !progress.isDone {
            do {
                let input = try FileInput(path)
                defer { input.closeFile() }
                var reader = CaptureReader(input, chunk: input.isFollowed ? 64 << 10 : 1 << 20)
                while !progress.isDone, try reader.step(to: &decoder) != .end {
                    if input.isFollowed { whenRead() }
                }
            } catch {
                hasFailed = true
                complain(Self.describe(error, path))
            }
        }
        decoder.finish()
        counters = decoder.counters
    }

    static func describe(_ error: any Error, _ path: String) -> String {
        switch error {
        case CaptureReadFailure<Trouble>.damaged(let damage): "\(path): \(damage)"
        case CaptureReadFailure<Trouble>.unreadable(let trouble): "\(trouble)"
        default: "\(error)"
        }
    }
}
