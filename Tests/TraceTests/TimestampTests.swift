import Foundation
import Streams
import Testing

@testable import Trace

/// RFC 3339 times.
@Suite struct TimestampTests {
    @Test(arguments: [
        (Int64(0), "1970-01-01T00:00:00.000000000Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (-1_000_000_000, "1969-12-31T23:59:59.000000000Z"),
        (1_795_248_000_000_012_345, "2026-11-21T08:00:00.000012345Z"),
        (951_782_400_000_000_000, "2000-02-29T00:00:00.000000000Z"),
        (-2_203_891_200_000_000_000, "1900-03-01T00:00:00.000000000Z"),
        (.max, "2262-04-11T23:47:16.854775807Z"),
        (.min, "1677-09-21T00:12:43.145224192Z"),
    ])
    func known(nanoseconds: Int64, text: String) {
        #expect(Timestamp(nanoseconds: nanoseconds).rfc3339 == text)
    }

    @Test(arguments: [
        ("2026-11-21T08:00:00.000012345Z", Int64(1_795_248_000_000_012_345)), ("2026-11-21", 1_795_219_200_000_000_000),
        ("2026-11-21T08:00:00.5z", 1_795_248_000_500_000_000), ("2026-11-21T08:00", 1_795_248_000_000_000_000),
        ("2026-11-21T09:00:00+01:00", 1_795_248_000_000_000_000),
        ("2026-11-21T03:30:00.25-04:30", 1_795_248_000_250_000_000),
        ("2026-11-21T08:00:00.0000123459999Z", 1_795_248_000_000_012_345),
        ("1969-12-31T23:59:59.999999999Z", -1), ("2026-11-21 08:00:00Z", 1_795_248_000_000_000_000),
        ("2026-11-21t08:00:00z", 1_795_248_000_000_000_000), ("2000-02-29", 951_782_400_000_000_000),
    ])
    func read(_ text: String, nanoseconds: Int64) {
        #expect(Timestamp(rfc3339: text)?.nanoseconds == nanoseconds)
    }

    @Test(arguments: [
        "", "2026", "2026-13-01", "2026-00-01", "2026-01-32", "0000-01-01", "2026-11-21T", "2026-11-21T24:00:00Z",
        "2026-11-21T08:61:00Z", "2026-11-21T08:00:61Z", "2026-11-21T08:00:00.Z", "2026-11-21T08:00:00ZZ", "+2026-11-21",
        "2026-11-21T08:00:00+0100", "2026-11-21T08:00:00+01:00Z", "2026-11-21T08:00:00.5x",
        "２026-11-21", "2026-11-21T08:60:00Z", "2026-11-21T08:00:00+25:00", "2026-11-21T08:00:00-01:60", "2026-11-21 ",
        "2026-11-21  08:00:00Z", "2026-02-30T00:00:00Z", "2026-11-31", "1900-02-29",
    ])
    func noTime(_ text: String) { #expect(Timestamp(rfc3339: text) == nil) }

    /// What is read as a date is that day, and no other one.
    @Test(arguments: [1900, 2000, 2023, 2024, 2100]) func dates(year: Int) {
        var days = 0
        for month in 1...12 {
            for day in 0...31 {
                let text = String(format: "%04d-%02d-%02d", year, month, day)
                guard let time = Timestamp(rfc3339: text) else { continue }
                #expect(time.rfc3339.hasPrefix(text))
                days += 1
            }
        }
        #expect(days == (year == 2000 || year == 2024 ? 366 : 365))
    }

    /// Every time is read as it was written.
    @Test func readingUndoesWriting() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5_000 {
            let time = Timestamp(nanoseconds: .random(in: .min...Int64.max, using: &generator))
            #expect(Timestamp(rfc3339: time.rfc3339) == time, "seed \(seed)")
        }
    }

    /// The calendar reaches further than 64 bits of nanoseconds do.
    @Test func year9999() {
        let parts = CalendarTime(secondsSince1970: 253_402_300_799)
        let date: [Int] = [parts.year, parts.month, parts.day, parts.hour, parts.minute, parts.second]
        #expect(date == [9999, 12, 31, 23, 59, 59] as [Int])
    }

    /// One writer caches the second of the last time: going back and forth must not matter.
    @Test func sameAsFoundationsCalendar() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var calendar = Calendar(identifier: .iso8601)
        calendar.timeZone = .gmt
        var writer = TimestampText()
        var last = Int64.max
        for round in 0..<5_000 {
            // Anywhere, at both ends of time, or close to the last one: in its second, or just not.
            let step = Int64.random(in: -1_500_000_000...1_500_000_000, using: &generator)
            switch round % 8 {
            case 0: last = .random(in: .min ... .max, using: &generator)
            case 1: last = .min
            case 2: last = .max
            default: last = last.addingReportingOverflow(step).overflow ? last &- step : last + step
            }
            let time = Timestamp(nanoseconds: last)
            let (seconds, nanoseconds) = time.split
            let parts = calendar.dateComponents(
                [.year, .month, .day, .hour, .minute, .second], from: Date(timeIntervalSince1970: Double(seconds)))
            let expected = String(
                format: "%04d-%02d-%02dT%02d:%02d:%02d.%09dZ", parts.year ?? 0, parts.month ?? 0, parts.day ?? 0,
                parts.hour ?? 0, parts.minute ?? 0, parts.second ?? 0, nanoseconds)
            var bytes: [UInt8] = []
            writer.rfc3339(time, into: &bytes)
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text == expected, "seed \(seed)")
        }
    }
}
