import Streams
import Testing

@testable import Trace

@Suite struct ProgressLineTests {
    private func at(_ milliseconds: Int) -> Timestamp { Timestamp(nanoseconds: Int64(milliseconds) * 1_000_000) }

    @Test func itSaysHowFarAndHowLong() {
        var line = ProgressLine(total: 2_600_000_000, start: at(0))
        let text = line.update(bytes: 1_300_000_000, packets: 12_345_678, now: at(14_000), columns: 200)
        #expect(text == "[==========>         ]  50 %  1.3 GB of 2.6 GB, 12,345,678 packets, 14 s left")
        #expect(
            line.update(bytes: 2_600_000_000, packets: 1, now: at(15_000), columns: 200)
                == "[====================] 100 %  2.6 GB of 2.6 GB, 1 packet, 0 s left")
    }

    @Test func itComesLateAndNotTooOften() {
        var line = ProgressLine(total: 100, start: at(0))
        let shown = (0...200).filter { line.update(bytes: 1, packets: 1, now: at($0 * 10), columns: 80) != nil }
        #expect(shown.first == 50 && shown.count == 16)
    }

    @Test func itFitsTheTerminal() {
        for (columns, bytes) in [(0, 0), (1, 1), (20, 50), (80, 1_000)] {
            var line = ProgressLine(total: 100, start: at(0))
            let text = line.update(bytes: bytes, packets: 0, now: at(9_000_000), columns: columns) ?? "none"
            #expect(text.count <= max(0, columns - 1), "\(text)")
        }
    }
}
