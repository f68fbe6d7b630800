import Streams

/// The progress line on a terminal while captures are read: `[====>     ]  45 %  1.2 GB of 2.6 GB, 12,345,678 packets, 14 s
/// left`.
package struct ProgressLine: Sendable {
    /// Shorter waits need no progress line.
    private static let patience = Interval(nanoseconds: 500_000_000)
    /// The minimum time a line stays.
    private static let rest = Interval(nanoseconds: 100_000_000)
    private static let barWidth = 20

    private let total: Int
    private let start: Timestamp
    private var next: Timestamp

    /// - Parameters:
    ///   - total: how many bytes there are to read.
    ///   - start: when reading began, by any clock.
    package init(total: Int, start: Timestamp) {
        self.total = total
        self.start = start
        next = start + Self.patience
    }

    /// The line to show now, fitted to a number of columns; nil if it is too early for a new one.
    package mutating func update(bytes: Int, packets: Int, now: Timestamp, columns: Int) -> String? {
        guard now >= next else { return nil }
        next = now + Self.rest
        // A file may have grown since its length was determined.
        let share = min(Double(bytes) / Double(max(total, 1)), 1)
        let percent = String(Int(share * 100))
        let filled = Int(share * Double(Self.barWidth))
        let bar =
            String(repeating: "=", count: filled) + (filled < Self.barWidth ? ">" : "")
            + String(repeating: " ", count: max(0, Self.barWidth - filled - 1))
        var text = "[\(bar)] " + String(repeating: " ", count: max(0, 3 - percent.utf8.count)) + "\(percent) %  "
        text += "\(Quantities.size(bytes)) of \(Quantities.size(total)), \(Quantities.counted(packets, "packet"))"
        if share > 0 {
            let left = (now - start).seconds * (1 - share) / share
            text += ", \(Self.duration(left)) left"
        }
        // A line as wide as the terminal would wrap.
        return String(text.prefix(max(0, columns - 1)))
    }

    /// `14 s`, `3 min`, `2 h`
    private static func duration(_ seconds: Double) -> String {
        switch seconds.rounded(.up) {
        case ..<100: "\(Int(seconds.rounded(.up))) s"
        case ..<6_000: "\(Int((seconds / 60).rounded())) min"
        case ..<3.6e8: "\(Int((seconds / 3_600).rounded())) h"
        default: "a long time"
        }
    }
}
