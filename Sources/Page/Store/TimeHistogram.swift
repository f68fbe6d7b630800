import Platform
import Streams

/// How long something took: exact minimum and maximum, and counts in buckets that grow by a sixteenth of a power of two.
struct TimeHistogram: Sendable {
    private(set) var count = 0
    private(set) var minimum: Int64 = 0
    private(set) var maximum: Int64 = 0
    private var buckets: [UInt16: UInt32] = [:]

    /// Counts a time, in nanoseconds; a negative one counts as zero.
    mutating func add(_ nanoseconds: Int64, _ times: Int = 1) {
        guard times > 0 else { return }
        let time = max(0, nanoseconds)
        minimum = count == 0 ? time : min(minimum, time)
        maximum = max(maximum, time)
        count += times
        let bucket = Self.bucket(of: time)
        buckets[bucket] = UInt32(clamping: Int(buckets[bucket] ?? 0) + times)
    }

    /// Adds what another one counted.
    mutating func add(_ other: TimeHistogram) {
        guard other.count > 0 else { return }
        minimum = count == 0 ? other.minimum : min(minimum, other.minimum)
        maximum = max(maximum, other.maximum)
        count += other.count
        for (bucket, number) in other.buckets {
            buckets[bucket] = UInt32(clamping: Int(buckets[bucket] ?? 0) + Int(number))
        }
    }

    /// Below a microsecond there is one bucket.
    private static func bucket(of time: Int64) -> UInt16 {
        guard time >= 1_000 else { return 0 }
        return UInt16(1 + (log2(Double(time) / 1_000) * 16).rounded(.down))
    }

    private static func lower(of bucket: UInt16) -> Double {
        bucket == 0 ? 0 : 1_000 * exp2(Double(bucket - 1) / 16)
    }

    /// A percentile in nanoseconds, as precise as the buckets are.
    func percentile(_ percentile: Double) -> Int64 {
        var left = Int((Double(count) * percentile / 100).rounded(.up))
        for (bucket, number) in buckets.sorted(by: { $0.key < $1.key }) {
            left -= Int(number)
            if left <= 0 {
                let middle = (Self.lower(of: bucket) + Self.lower(of: bucket + 1)) / 2
                return middle >= Double(maximum) ? maximum : max(minimum, Int64(middle))
            }
        }
        return maximum
    }

    /// The counts in fewer buckets: each half as long again as the one before it, in seconds.
    var coarse: [(lower: Double, upper: Double, count: Int)] {
        var coarse: [UInt16: Int] = [:]
        for (bucket, number) in buckets { coarse[bucket == 0 ? 0 : (bucket - 1) / 8 + 1, default: 0] += Int(number) }
        return coarse.sorted { $0.key < $1.key }.map { bucket, number in
            let lower = bucket == 0 ? 0 : Self.lower(of: (bucket - 1) * 8 + 1)
            return (lower / 1e9, Self.lower(of: bucket * 8 + 1) / 1e9, number)
        }
    }
}
