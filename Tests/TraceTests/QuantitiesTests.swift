import Streams
import Testing

@testable import Trace

/// Numbers in readable form.
@Suite struct QuantitiesTests {
    @Test(arguments: [
        (0, "0"), (7, "7"), (999, "999"), (1_000, "1,000"), (48_213, "48,213"), (1_234_567, "1,234,567"),
        (-1_000, "-1,000"), (-999, "-999"), (.max, "9,223,372,036,854,775,807"), (.min, "-9,223,372,036,854,775,808"),
    ])
    func grouped(value: Int, text: String) {
        #expect(Quantities.grouped(value) == text)
    }

    @Test(arguments: [
        (0, "0 B"), (812, "812 B"), (999, "999 B"), (1_000, "1.0 kB"), (48_914, "48.9 kB"), (999_949, "999.9 kB"),
        (999_950, "1.0 MB"), (1_234_567_890, "1.2 GB"), (5_000_000_000_000, "5.0 TB"),
        (4_321_000_000_000_000, "4,321.0 TB"), (.max, "9,223,372.0 TB"),
    ])
    func size(bytes: Int, text: String) {
        #expect(Quantities.size(bytes) == text)
    }

    @Test(arguments: [
        (Int64(3_000), "3 s", "3.0 s"), (200, "200 ms", "200 ms"), (1_500, "1.5 s", "1.5 s"), (0, "0 ms", "0 ms"),
        (300_000, "300 s", "300.0 s"),
    ])
    func seconds(milliseconds: Int64, short: String, withDigit: String) {
        #expect(Interval.milliseconds(milliseconds).text() == short)
        #expect(Interval.milliseconds(milliseconds).text(digits: true) == withDigit)
    }

    /// A value rounded up to a second is not shown as 1000 ms.
    @Test func almostASecond() {
        #expect(Interval(nanoseconds: 999_400_000).text() == "999 ms")
        #expect(Interval(nanoseconds: 999_600_000).text() == "1.0 s")
    }

    @Test func counted() {
        #expect(Quantities.counted(0, "frame") == "0 frames")
        #expect(Quantities.counted(1, "frame") == "1 frame")
        #expect(Quantities.counted(1_000, "frame") == "1,000 frames")
    }
}
