import Packets
import Streams

/// Reads capture files into a stream receiver; what goes wrong is said, and what was readable is kept.
struct CaptureReading {
    /// Whether a file could not be read to its end.
    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Reads the files, one after another.
    ///
    /// - Parameter whenRead: called after each reading of a file that is being followed.
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to receiver: any StreamReceiver, whenRead: () -> Void
    ) {
        var decoder = CaptureDecoder(options: options, receiver: receiver)
        for path in paths {
            do {
                let input = try FileInput(path)
                defer { input.closeFile() }
                var reader = CaptureReader(input, chunk: input.isFollowed ? 64 << 10 : 1 << 20)
                while try reader.step(to: &decoder) != .end {
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
