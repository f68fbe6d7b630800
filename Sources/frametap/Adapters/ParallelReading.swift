import Dispatch
import Packets
import Pipeline
import Platform
import Streams
import Synchronization

/// Reads captures on one thread and decodes them on another. The output is the same as with a single thread.
struct ParallelReading {
    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Whether all of these are complete files on disk: a file that is still being written is followed, and its reader waits.
    static func suits(_ paths: [String]) -> Bool {
        paths.allSatisfy { path in
            path != "-" && FileStatus(of: path)?.kind == .regular
        }
    }

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - plan: what is read of them; nil: all.
    ///   - show: called a few times a second, to show what was found so far.
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to decoder: Decoder, plan: ReadingPlan? = nil,
        progress: ReadingProgress, show: () -> Void = {}
    ) {
        let queue = BatchQueue()
        let result = Mutex((complaints: [String](), counters: CaptureCounters()))
        let group = DispatchGroup()
        // As in `SharedReading`, whose thread, if that reading was abandoned, is used again with the memory that it has freed.
        DispatchQueue(label: "reading").async(group: group) {
            let receiver = BatchingReceiver(queue)
            var reading = CaptureReading()
            reading.read(paths, options: options, to: receiver, plan: plan, progress: progress) {}
            receiver.finish()
            result.withLock { $0 = (reading.complaints, reading.counters) }
        }
        var pace = OutputPace()
        BatchReplay(queue, to: decoder).run {
            if pace.isDue() { show() }
            return progress.isDone
        }
        group.wait()
        let (complaints, counters) = result.withLock { $0 }
        for complaint in complaints { warn(complaint) }
        (hasFailed, self.counters) = (!complaints.isEmpty, counters)
    }
}
