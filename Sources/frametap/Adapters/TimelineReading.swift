import Packets

/// Reads several captures as one timeline; errors are kept for reporting, and the readable part of each capture is read.
struct TimelineReading {
    /// The captures that could be opened, in the order in which they are merged.
    let paths: [String]
    /// Whether one of them may still grow.
    let isFollowed: Bool
    /// The errors for captures that could not be opened, or not be read to their ends.
    private(set) var complaints: [String]
    private let inputs: [CaptureInput]

    /// Opens the captures; `-` is standard input.
    ///
    /// - Parameters:
    ///   - progress: reports when to stop waiting for a followed file.
    ///   - extents: what is read of captures, by path; all of those that are not among them.
    init(_ paths: [String], _ progress: ReadingProgress, extents: [String: [Range<Int>]] = [:]) {
        var opened: [(path: String, input: CaptureInput)] = []
        var complaints: [String] = []
        for path in paths {
            do {
                opened.append((path, try CaptureInput(path, progress, extents: extents[path])))
            } catch {
                complaints.append(CaptureReading.describe(error, path))
            }
        }
        self.complaints = complaints
        self.paths = opened.map(\.path)
        inputs = opened.map(\.input)
        isFollowed = inputs.contains { $0.isFollowed }
    }

    /// Reads them to their ends, and closes them.
    ///
    /// - Parameters:
    ///   - packets: receives the packets.
    ///   - whenRead: called after each turn of a capture, between packets.
    mutating func read<Receiver: PacketReceiver & ~Copyable>(
        to packets: inout MergedPackets<Receiver>, progress: ReadingProgress, showsProgress: Bool,
        whenRead: (inout MergedPackets<Receiver>) -> Void
    ) {
        defer { for input in inputs { input.closeFile() } }
        let bar = isFollowed || !showsProgress ? nil : ProgressBar(total: inputs.reduce(0) { $0 + ($1.size ?? 0) })
        defer { bar?.clear() }
        var merge = CaptureMerge(inputs)
        while !progress.isOver {
            let step = merge.step(to: &packets) { packets in
                whenRead(&packets)
                return !progress.isOver
            }
            switch step {
            case .more:
                bar?.update(bytes: merge.bytesRead, packets: packets.packetCount)
                whenRead(&packets)
            case .failed(let index, .damaged(var damage)):
                damage.offset = inputs[index].place(of: damage.offset)
                report(CaptureReadFailure<CommandError>.damaged(damage), index, progress)
            case .failed(let index, let failure):
                report(failure, index, progress)
            case .stopped, .end: return
            }
        }
    }

    private mutating func report(
        _ failure: CaptureReadFailure<CommandError>, _ index: Int, _ progress: ReadingProgress
    ) {
        // If a signal ends the reading of a followed file, that may be in the middle of a packet.
        if !progress.isInterrupted { complaints.append(CaptureReading.describe(failure, paths[index])) }
    }
}
