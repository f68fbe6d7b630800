/// The Gregorian calendar in UTC, by days counted from 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last one, and eras of 400 years are all equal.
enum Calendar {
    /// From 0000-03-01 to 1970-01-01.
    private static let shift: Int64 = 719_468
    private static let daysOfEra: Int64 = 146_097

    /// The date of a day.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + shift
        let era = shifted.dividedRoundingDown(by: daysOfEra)
        let dayOfEra = shifted - era * daysOfEra
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            yearOfEra + era * 400 + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }

    /// The day of a date.
    static func day(of date: (year: Int64, month: Int64, day: Int64)) -> Int64 {
        let year = date.month <= 2 ? date.year - 1 : date.year
        let era = year.dividedRoundingDown(by: 400)
        let yearOfEra = year - era * 400
        let month = date.month > 2 ? date.month - 3 : date.month + 9
        let dayOfYear = (153 * month + 2) / 5 + date.day - 1
        return era * daysOfEra + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - shift
    }
}

extension Int64 {
    /// The quotient, rounded down; for negative numbers `/` rounds up.
    func dividedRoundingDown(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
