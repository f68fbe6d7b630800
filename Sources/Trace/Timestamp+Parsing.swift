import Streams

extension Timestamp {
    /// Reads RFC 3339 text: `2026-11-21T08:00:00.5Z`, `2026-11-21T09:00:00+01:00`, or a date alone; nil if it is none.
    public init?(rfc3339 text: String) {
        let parts = text.split(separator: "T", maxSplits: 1)
        let date = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard date.count == 3, let year = date[0], let month = date[1], let day = date[2], (1...12).contains(month),
            (1...31).contains(day), (1...9999).contains(year)
        else { return nil }
        var seconds = Int64(Self.days(year, month, day)) * 86_400
        var nanoseconds: Int64 = 0
        if parts.count == 2 {
            guard let clock = Self.clock(parts[1]) else { return nil }
            seconds += clock.seconds
            nanoseconds = clock.nanoseconds
        }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Seconds since midnight UTC, and nanoseconds after them.
    private static func clock(_ text: Substring) -> (seconds: Int64, nanoseconds: Int64)? {
        var text = text
        var offset: Int64 = 0
        if text.hasSuffix("Z") || text.hasSuffix("z") {
            text.removeLast()
        } else if let sign = text.lastIndex(where: { $0 == "+" || $0 == "-" }) {
            let zone = text[text.index(after: sign)...].split(separator: ":").map { Int64($0) ?? -1 }
            guard zone.count == 2, zone[0] >= 0, zone[1] >= 0 else { return nil }
            offset = (zone[0] * 60 + zone[1]) * (text[sign] == "+" ? 60 : -60)
            text = text[..<sign]
        }
        let halves = text.split(separator: ".", maxSplits: 1)
        let numbers = (halves.first ?? "").split(separator: ":").map { Int64($0) ?? -1 }
        guard (2...3).contains(numbers.count), numbers.allSatisfy({ (0...60).contains($0) }), numbers[0] < 24 else {
            return nil
        }
        var nanoseconds: Int64 = 0
        if halves.count == 2 {
            guard let digits = Int64(halves[1].prefix(9)) else { return nil }
            nanoseconds = (halves[1].count..<max(9, halves[1].count)).reduce(digits) { number, _ in number * 10 }
        }
        let seconds = numbers[0] * 3_600 + numbers[1] * 60 + (numbers.count == 3 ? numbers[2] : 0)
        return (seconds - offset, nanoseconds)
    }

    /// Days since 1970-01-01 (H. Hinnant's `days_from_civil`).
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let shifted = month <= 2 ? year - 1 : year
        let era = shifted / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
