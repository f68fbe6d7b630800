import Framing
import Streams

/// Writes instants as RFC 3339 text, caching the date and second of the last one.
struct TimestampText {
    private var second = Int64.min
    private var prefix: [UInt8] = []
    /// The last instant, and its text.
    private var last: Timestamp?
    private var text: [UInt8] = []

    /// `2026-11-21T08:00:00.000012345Z`
    mutating func rfc3339(_ time: Timestamp, into bytes: inout [UInt8]) {
        if time == last {
            bytes.append(contentsOf: text.span.bytes)
            return
        }
        let start = bytes.count
        let (seconds, nanoseconds) = time.split
        if seconds != second {
            let parts = CalendarTime(secondsSince1970: seconds)
            prefix = []
            Self.decimal(parts.year, digits: 4, into: &prefix)
            prefix.append(UInt8(ascii: "-"))
            Self.decimal(parts.month, digits: 2, into: &prefix)
            prefix.append(UInt8(ascii: "-"))
            Self.decimal(parts.day, digits: 2, into: &prefix)
            prefix.append(UInt8(ascii: "T"))
            Self.clock(parts, into: &prefix)
            prefix.append(UInt8(ascii: "."))
            second = seconds
        }
        bytes.append(contentsOf: prefix.span.bytes)
        Self.decimal(nanoseconds, digits: 9, into: &bytes)
        bytes.append(UInt8(ascii: "Z"))
        last = time
        text.removeAll(keepingCapacity: true)
        text.append(contentsOf: bytes[start...])
    }

    /// `08:00:00.013`, the milliseconds rounded down.
    static func clock(_ time: Timestamp, into bytes: inout [UInt8]) {
        let (seconds, nanoseconds) = time.split
        clock(CalendarTime(secondsSince1970: seconds), into: &bytes)
        bytes.append(UInt8(ascii: "."))
        decimal(nanoseconds / 1_000_000, digits: 3, into: &bytes)
    }

    private static func clock(_ parts: CalendarTime, into bytes: inout [UInt8]) {
        decimal(parts.hour, digits: 2, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        decimal(parts.minute, digits: 2, into: &bytes)
        bytes.append(UInt8(ascii: ":"))
        decimal(parts.second, digits: 2, into: &bytes)
    }

    /// A non-negative number, zero-padded.
    static func decimal(_ value: Int, digits: Int, into bytes: inout [UInt8]) {
        let value = UInt64(value)
        if digits > 8 {
            JSONOutput.decimal(UInt32(truncatingIfNeeded: value / 100_000_000), digits: digits - 8, into: &bytes)
        }
        JSONOutput.decimal(UInt32(value % 100_000_000), digits: min(digits, 8), into: &bytes)
    }
}

/// An instant in the proleptic Gregorian calendar, UTC.
struct CalendarTime {
    var year, month, day, hour, minute, second: Int

    /// Converts days to a date by the algorithm of H. Hinnant's `civil_from_days` (years of March, eras of 400).
    init(secondsSince1970 seconds: Int64) {
        let days = Int(seconds >= 0 ? seconds / 86_400 : (seconds - 86_399) / 86_400)
        let rest = Int(seconds) - days * 86_400
        (hour, minute, second) = (rest / 3_600, rest / 60 % 60, rest % 60)
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
        month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}

extension Timestamp {
    /// Whole seconds since 1970, rounded down, and the nanoseconds after them.
    var split: (seconds: Int64, nanoseconds: Int) {
        let (quotient, remainder) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        return remainder < 0 ? (quotient - 1, Int(remainder + 1_000_000_000)) : (quotient, Int(remainder))
    }
}

extension Timestamp {
    /// The instant as RFC 3339 text in UTC with nine decimals: `2026-11-21T08:00:00.000012345Z`.
    public var rfc3339: String {
        var text = TimestampText()
        var bytes: [UInt8] = []
        text.rfc3339(self, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}
