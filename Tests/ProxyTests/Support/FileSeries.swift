import Streams
import Trace

/// A series of files in memory for a record.
final class FileSeries: RecordOutput {
    /// All files, in order.
    private(set) var all: [[UInt8]] = [[]]
    /// The maximum length of each.
    let limit: Int
    private let interval: Interval
    private var start: Timestamp?

    init(limit: Int, interval: Interval) {
        (self.limit, self.interval) = (limit, interval)
    }

    var isAskedForNext: Bool { false }

    func isFull(adding byteCount: Int, at time: Timestamp) -> Bool {
        let start = start ?? time
        self.start = start
        return all[all.count - 1].count + byteCount > limit || time >= start + interval
    }

    func next(ending: [UInt8], at time: Timestamp) -> Bool {
        write(ending)
        all.append([])
        start = time
        return true
    }

    func write(_ bytes: [UInt8]) {
        all[all.count - 1] += bytes
    }
}
