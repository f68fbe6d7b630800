import Streams

/// The first column of a line, which is formatted again only where it differs from that of the line before.
struct ClockText {
    private let options: TextOptions
    /// When the first line's event was, and the newest one's.
    private(set) var times: (first: Timestamp, last: Timestamp)?
    /// The instant that `bytes` shows as a time of day, in whole milliseconds and seconds.
    private var shown: (millisecond: Int64, second: Int64)?
    /// The column.
    private(set) var bytes: [UInt8] = []

    init(_ options: TextOptions) { self.options = options }

    /// How far the times shown are ahead of UTC, in seconds.
    func offset(at time: Timestamp) -> Int { options.times == .local ? options.utcOffset(time) : 0 }

    /// Formats a line's time.
    ///
    /// - Returns: false if it shows the same second as the line before.
    mutating func update(_ time: Timestamp) -> Bool {
        let (base, before) = times ?? (time, time)
        times = (base, time)
        switch options.times {
        case .relative: bytes = Array(Self.relative(time - base).utf8)
        case .delta: bytes = Array(Self.relative(time - before).utf8)
        case .utc, .local, .date:
            // Only from 1970 on does division round down.
            let millisecond = time.nanoseconds / 1_000_000
            if time.nanoseconds > 0, let shown, shown.second == millisecond / 1_000 {
                if shown.millisecond != millisecond { replaceMilliseconds(by: millisecond) }
                return false
            }
            format(time)
        }
        return true
    }

    /// Goes on after lines that were written elsewhere.
    mutating func resume(after times: (first: Timestamp, last: Timestamp)?) {
        self.times = times
        shown = nil
    }

    private mutating func format(_ time: Timestamp) {
        bytes.removeAll(keepingCapacity: true)
        if options.times == .date { bytes.append(contentsOf: "\(time.rfc3339.prefix(10)) ".utf8) }
        TimestampText.clock(time + .seconds(Double(offset(at: time))), into: &bytes)
        let millisecond = time.nanoseconds / 1_000_000
        shown = time.nanoseconds > 0 ? (millisecond, millisecond / 1_000) : nil
    }

    /// Within a second, only the last three digits differ.
    private mutating func replaceMilliseconds(by millisecond: Int64) {
        shown?.millisecond = millisecond
        var rest = UInt32(truncatingIfNeeded: millisecond % 1_000)
        for place in 1...3 {
            bytes[bytes.count - place] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// `    3.101000`: seconds with six decimals in the width of a time of day.
    private static func relative(_ interval: Interval) -> String {
        let micros = interval.nanoseconds / 1_000
        let digits = String(micros.magnitude % 1_000_000)
        let text =
            "\(micros < 0 ? "-" : "")\(micros.magnitude / 1_000_000)."
            + String(repeating: "0", count: 6 - digits.count) + digits
        return String(repeating: " ", count: max(0, 12 - text.utf8.count)) + text
    }
}
