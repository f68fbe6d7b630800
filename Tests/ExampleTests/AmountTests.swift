import Streams
import TestSupport
import Testing

@testable import frametap

/// Sizes and times, as people write them.
@Suite struct AmountTests {
    @Test(
        arguments: [
            ("4096", 4_096), ("0", 0), ("12B", 12), ("64K", 64_000), ("64k", 64_000), ("2KB", 2_000), ("2M", 2_000_000),
            ("2mb", 2_000_000), ("2.5MB", 2_500_000), ("2.3MB", 2_300_000), ("1G", 1_000_000_000), ("4 MiB", 4 << 20),
            ("64kib", 64 << 10), ("0.5GiB", 1 << 29), ("1024GiB", 1 << 40),
        ] as [(String, Int)])
    func sizes(text: String, bytes: Int) {
        #expect(ByteAmount(argument: text)?.bytes == bytes)
    }

    /// `5m` is five minutes: a size of that name would be something else after `--rotate`.
    @Test(arguments: ["", "B", "-1", "1.5", "1.5B", "5m", "2KX", "1KB1", "1 KB 2", "1 0", "1.2.3MB", "1025GiB", "٣KB"])
    func noSizes(text: String) {
        #expect(ByteAmount(argument: text) == nil)
    }

    @Test(
        arguments: [
            ("5", 5_000_000_000), ("0", 0), ("1.5", 1_500_000_000), ("5us", 5_000), ("500ms", 500_000_000),
            ("5sec", 5_000_000_000), ("2m", 120_000_000_000), ("5 min", 300_000_000_000), ("1h30m", 5_400_000_000_000),
            ("1h 30min", 5_400_000_000_000), ("1d", 86_400_000_000_000),
        ] as [(String, Int64)])
    func times(text: String, nanoseconds: Int64) {
        #expect(TimeAmount(argument: text)?.interval == Interval(nanoseconds: nanoseconds))
    }

    @Test(arguments: ["", "s", "-1s", "1x", "5M", "1h30", "0h30", "30 1h", "1 0", "h", "99999d"])
    func noTimes(text: String) {
        #expect(TimeAmount(argument: text) == nil)
    }

    /// A sum of parts is as long as they are together.
    @Test func partsAreAddedUp() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let units: [(name: String, nanoseconds: Int64)] = [
            ("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("min", 60_000_000_000), ("s", 1_000_000_000),
            ("ms", 1_000_000),
        ]
        for _ in 0..<1_000 {
            let chosen = units.filter { _ in Bool.random(using: &generator) }
            guard !chosen.isEmpty else { continue }
            var (text, sum) = ("", Int64(0))
            for unit in chosen {
                let number = Int64.random(in: 0...99, using: &generator)
                text += "\(number)\(Bool.random(using: &generator) ? " " : "")\(unit.name)"
                sum += number * unit.nanoseconds
            }
            let read = try #require(TimeAmount(argument: text), "seed \(seed): \(text)").interval.nanoseconds
            // In seconds, a double holds them to less than a microsecond.
            #expect(abs(read - sum) < 1_000, "seed \(seed): \(text)")
        }
    }
}
