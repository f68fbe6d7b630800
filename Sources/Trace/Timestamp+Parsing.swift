import Streams

extension Timestamp {
    /// Reads RFC 3339 text: `2026-11-21T08:00:00.5Z`, `2026-11-21 09:00:00+01:00`, or a date alone; nil if it is none.
    ///
    /// Traces have one in nearly every line: nothing is allocated.
    package init?(rfc3339 text: String) {
        var rest = text.utf8[...]
        guard let year = rest.number(digits: 4), rest.skip("-"), let month = rest.number(digits: 2), rest.skip("-"),
            let day = rest.number(digits: 2), (1...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= Self.daysInMonth(year, month)
        else { return nil }
        var seconds = Int64(Self.days(year, month, day)) * 86_400
        var nanoseconds: Int64 = 0
        if !rest.isEmpty {
            guard rest.skip("T") || rest.skip("t") || rest.skip(" "), let clock = Self.clock(rest) else { return nil }
            seconds += clock.seconds
            nanoseconds = clock.nanoseconds
        }
        self.init(seconds: seconds, nanoseconds: nanoseconds)
    }

    /// Seconds since midnight UTC, and nanoseconds after them.
    private static func clock(_ text: Substring.UTF8View) -> (seconds: Int64, nanoseconds: Int64)? {
        var rest = text
        guard let hours = rest.number(digits: 2), hours < 24, rest.skip(":"), let minutes = rest.number(digits: 2),
            minutes < 60
        else { return nil }
        var seconds = Int64(hours * 3_600 + minutes * 60)
        var nanoseconds: Int64 = 0
        if rest.skip(":") {
            guard let number = rest.number(digits: 2), number <= 60 else { return nil }
            seconds += Int64(number)
        }
        if rest.skip(".") {
            let before = rest.count
            guard let digits = rest.number(digits: 9) else { return nil }
            nanoseconds = (before - rest.count..<9).reduce(Int64(digits)) { number, _ in number * 10 }
            // Finer than a nanosecond.
            while rest.number(digits: 9) != nil {}
        }
        if rest.isEmpty || (rest.count == 1 && (rest.skip("Z") || rest.skip("z"))) { return (seconds, nanoseconds) }
        let isEast = rest.skip("+")
        guard isEast || rest.skip("-"), let hours = rest.number(digits: 2), rest.skip(":"),
            let minutes = rest.number(digits: 2), rest.isEmpty, hours < 24, minutes < 60
        else { return nil }
        let offset = Int64(hours * 60 + minutes) * 60
        return (isEast ? seconds - offset : seconds + offset, nanoseconds)
    }

    private static func daysInMonth(_ year: Int, _ month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
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

extension Substring.UTF8View {
    /// Removes a number of at least one and at most `digits` digits; nil if there is none.
    fileprivate mutating func number(digits: Int) -> Int? {
        var value = 0
        var count = 0
        while count < digits, let byte = first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
            count += 1
            removeFirst()
        }
        return count > 0 ? value : nil
    }

    /// Removes a character; returns whether it was there.
    fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }
}
