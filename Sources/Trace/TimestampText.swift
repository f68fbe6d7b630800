import Framing
import Streams

/// Writes instants as RFC 3339 text, caching the last one.
struct TimestampText {
    /// The last instant, and when its second began, in nanoseconds.
    private var last: Timestamp?
    private var start: Int64 = 0
    private var isStartKnown = false
    /// Its text, eight bytes in each word, the first in the lowest byte.
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    /// `2026-11-21T08:00:00.000012345Z`
    mutating func rfc3339(_ time: Timestamp, into bytes: inout [UInt8]) {
        if time != last { update(time) }
        bytes.append(first: 30, of: words)
    }

    /// The same, where there is room for 32 bytes.
    @inline(__always)
    mutating func rfc3339(_ time: Timestamp, into room: inout ByteRoom) {
        if time != last { update(time) }
        room.put(first: 8, of: words.0)
        room.put(first: 8, of: words.1)
        room.put(first: 8, of: words.2)
        room.put(first: 6, of: words.3)
    }

    private mutating func update(_ time: Timestamp) {
        // Most are in the same second as the one before.
        var (nanoseconds, overflows) = time.nanoseconds.subtractingReportingOverflow(start)
        if !isStartKnown || overflows || !(0..<1_000_000_000 ~= nanoseconds) {
            let (seconds, rest) = time.split
            nanoseconds = Int64(rest)
            // The first second that there is began before the first instant.
            (start, overflows) = time.nanoseconds.subtractingReportingOverflow(nanoseconds)
            isStartKnown = !overflows
            let parts = CalendarTime(secondsSince1970: seconds)
            func byte(_ character: Unicode.Scalar, _ place: UInt64) -> UInt64 { UInt64(character.value) << (8 * place) }
            func two(_ number: Int, _ place: UInt64) -> UInt64 {
                UInt64(0x3030 | number / 10 | (number % 10) << 8) << (8 * place)
            }
            let year = two(parts.year / 100, 0) | two(parts.year % 100, 2)
            words.0 = year | byte("-", 4) | two(parts.month, 5) | byte("-", 7)
            words.1 = two(parts.day, 0) | byte("T", 2) | two(parts.hour, 3) | byte(":", 5) | two(parts.minute, 6)
            words.2 = byte(":", 0) | two(parts.second, 1) | byte(".", 3)
        }
        // Nine digits and the Z: four after the text of the second, the rest in a word of their own.
        let first = UInt64(0x30 + nanoseconds / 100_000_000)
        let rest = JSONOutput.digits(of: UInt32(nanoseconds % 100_000_000), least: 8).text
        words.2 = words.2 & 0xffff_ffff | first << 32 | (rest & 0xff_ffff) << 40
        words.3 = rest >> 24 | UInt64(UInt8(ascii: "Z")) << 40
        last = time
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
