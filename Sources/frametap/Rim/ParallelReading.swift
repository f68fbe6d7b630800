import Dispatch
import Packets
import Pipeline
import Streams
import Synchronization
import Trace

/// Reads captures on one thread and decodes them on others. What comes out is what one thread alone would give.
///
/// Decoding for a sink keeps the order of events, so it is one thread's work. Where nobody wants to see frames, connections are
/// spread over two, and their counts added up.
struct ParallelReading {
    private(set) var hasFailed = false
    private(set) var counters = CaptureCounters()

    /// Whether all of these are files that lie there: what is still being written is followed, and its reader waits.
    static func suits(_ paths: [String]) -> Bool {
        paths.allSatisfy { path in
            var status = stat()
            return path != "-" && stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        }
    }

    /// Reads the files.
    ///
    /// - Parameter others: what the decoder looks for, loaded anew for each other one: what threads share, each use of it would
    ///   have them wait for one another (reference counts).
    mutating func read(
        _ paths: [String], options: ReassemblyOptions, to decoder: Decoder, others: [DecodingOptions],
        progress: ReadingProgress
    ) {
        let lanes = 1 + others.count
        let queues = (0..<lanes).map { _ in BatchQueue() }
        let result = Mutex((hasFailed: false, counters: CaptureCounters()))
        let summaries = Mutex<[Summary]>([])
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) {
            let receiver = BatchingReceiver(queues)
            var reading = CaptureReading()
            reading.read(paths, options: options, to: receiver, progress: progress) {}
            receiver.finish()
            result.withLock { $0 = (reading.hasFailed, reading.counters) }
        }
        for (queue, decoding) in zip(queues.dropFirst(), others) {
            DispatchQueue.global().async(group: group) {
                let lane = Decoder(decoding, sinks: [])
                BatchReplay(queue, to: lane).run { progress.isDone }
                summaries.withLock { $0.append(lane.summary) }
            }
        }
        BatchReplay(queues[0], to: decoder).run { progress.isDone }
        group.wait()
        for summary in summaries.withLock({ $0 }) { decoder.add(summary) }
        (hasFailed, counters) = result.withLock { $0 }
    }
}
