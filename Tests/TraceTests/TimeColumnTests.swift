import Streams
import Testing

@testable import Trace

/// The first column: `--time`.
@Suite struct TimeColumnTests {
    /// The first columns of a connection's opening, three frames and its end.
    private func column(_ times: TextOptions.Times, hoursAhead: Int = 0, width: Int = 12) throws -> [String] {
        var options = TextOptions()
        options.times = times
        options.utcOffset = { _ in hoursAhead * 3_600 }
        let output = try text(options) { script, _ in
            script.open(at: 13)
            try script.text("a", at: 20)
            try script.text("b", at: 20)
            try script.text("c", at: 1_234_567)
            script.close(at: 5_200)
        }
        return output.split(separator: "\n").map { String($0.prefix(width)) }
    }

    @Test func utc() throws {
        #expect(
            try column(.utc, hoursAhead: 8) == [
                "08:00:00.013", "08:00:00.020", "08:00:00.020", "08:20:34.567", "08:00:05.200",
            ])
    }

    @Test func local() throws {
        #expect(
            try column(.local, hoursAhead: -9) == [
                "23:00:00.013", "23:00:00.020", "23:00:00.020", "23:20:34.567", "23:00:05.200",
            ])
    }

    @Test func date() throws {
        #expect(
            try column(.date, hoursAhead: 8, width: 23) == [
                "2026-11-21 08:00:00.013", "2026-11-21 08:00:00.020", "2026-11-21 08:00:00.020",
                "2026-11-21 08:20:34.567", "2026-11-21 08:00:05.200",
            ])
    }

    /// A line stands where the date changes, in the time that is shown, and only there.
    @Test(arguments: [(TextOptions.Times.utc, 0), (.local, 8), (.local, -9)])
    func aLineTellsOfAnotherDay(times: TextOptions.Times, hoursAhead: Int) throws {
        var options = TextOptions()
        options.times = times
        options.utcOffset = { _ in hoursAhead * 3_600 }
        // The trace begins at 08:00 UTC.
        let hour: Int64 = 3_600_000
        let midnight = Int64((24 - 8 - hoursAhead) % 24) * hour
        let output = try text(options) { script, _ in
            script.open()
            for time in [midnight - 1, midnight, midnight + 1, midnight + 72 * hour, midnight] {
                try script.text("a", at: time)
            }
        }
        let lines = output.split(separator: "\n").map(String.init)
        try #require(lines.count == 9)
        let first = hoursAhead < 0 ? 20 : 21
        let days = [first, first + 1, first + 4, first + 1].map { "2026-11-\($0)" }
        #expect([lines[2], lines[5], lines[7]] == zip(days, days.dropFirst()).map { "\($1), after \($0)" })
    }

    @Test func relative() throws {
        #expect(
            try column(.relative) == [
                "    0.000000", "    0.007000", "    0.007000", " 1234.554000", "    5.187000",
            ])
    }

    @Test func delta() throws {
        #expect(
            try column(.delta) == [
                "    0.000000", "    0.007000", "    0.000000", " 1234.547000", "-1229.367000",
            ])
    }

    /// Milliseconds are rounded down: a time must not be shown before it has come.
    @Test(arguments: [
        (0, "00:00:00.000"), (999_999, "00:00:00.000"), (-1, "23:59:59.999"), (86_399_999_999_999, "23:59:59.999"),
    ])
    func clock(nanoseconds: Int64, shown: String) {
        var bytes: [UInt8] = []
        TimestampText.clock(Timestamp(nanoseconds: nanoseconds), into: &bytes)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text == shown)
    }

    /// No time that 64 bits hold stops the writer.
    @Test(arguments: TextOptions.Times.allCases)
    func extremes(times: TextOptions.Times) throws {
        var options = TextOptions()
        options.times = times
        options.utcOffset = { _ in 14 * 3_600 }
        let output = try text(options) { script, _ in
            script.open()
            for nanoseconds in [Int64.min, .max, 0, .min, -1] {
                try script.frame(
                    at: Timestamp(nanoseconds: nanoseconds), script.clientHead("txt", "a", "b"), body: [65])
            }
        }
        #expect(output.split(separator: "\n").count { !$0.contains(", after ") } == 6)
    }
}
