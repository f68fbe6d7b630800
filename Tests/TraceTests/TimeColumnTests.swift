import Streams
import Testing

@testable import Trace

/// The first column: `--time`.
@Suite struct TimeColumnTests {
    /// The first columns of a connection's opening, three frames and its end.
    private func column(_ times: TextOptions.Times, hoursAhead: Int = 0) throws -> [String] {
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
        return output.split(separator: "\n").map { String($0.prefix(12)) }
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
        #expect(output.split(separator: "\n").count == 6)
    }
}
