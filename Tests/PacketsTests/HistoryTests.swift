import Streams
import TestSupport
import Testing

@testable import Packets

/// The bytes last passed on in a direction are compared with those that come again: as many as were asked for, none after a gap.
@Suite struct HistoryTests {
    /// All bytes that were passed on, by stream offset: a gap ends what is known before it.
    private struct Model {
        var bytes: [Int: UInt8] = [:]
        var end = 0

        mutating func add(_ payload: [UInt8], at offset: Int) {
            if offset != end { bytes = [:] }
            for (index, byte) in payload.enumerated() { bytes[offset + index] = byte }
            end = offset + payload.count
        }

        /// The first and the last byte that differ, and what there is from one to the other.
        func difference(_ payload: [UInt8], at offset: Int, limit: Int) -> (Int, kept: [UInt8], other: [UInt8])? {
            let known = payload.indices.filter { offset + $0 >= end - limit && bytes[offset + $0] != nil }
            let differing = known.filter { bytes[offset + $0] != payload[$0] }
            guard let first = differing.first, let last = differing.last else { return nil }
            return (offset + first, (first...last).map { bytes[offset + $0] ?? 0 }, Array(payload[first...last]))
        }
    }

    @Test func whatIsKeptIsCompared() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var found = 0
        for _ in 0..<200 {
            let limit = Int.random(in: 1...60, using: &generator)
            var (history, model) = (History(), Model())
            for _ in 0..<60 {
                let payload = generator.bytes(Int.random(in: 0...80, using: &generator))
                let isAfterGap = Int.random(in: 0..<12, using: &generator) == 0
                let offset = model.end + (isAfterGap ? Int.random(in: 1...9, using: &generator) : 0)
                history.add(payload.span.bytes, at: offset, limit: limit)
                model.add(payload, at: offset)
                #expect(history.count == min(limit, model.bytes.count), "seed \(seed)")

                // The same bytes again, and some others before and after them; a few are changed.
                let start = max(0, model.end - Int.random(in: 0...100, using: &generator))
                var again = (0..<Int.random(in: 0...90, using: &generator)).map { model.bytes[start + $0] ?? 0 }
                for _ in 0..<Int.random(in: 0...2, using: &generator) where !again.isEmpty {
                    again[Int.random(in: again.indices, using: &generator)] ^= 1
                }
                var actual: (Int, kept: [UInt8], other: [UInt8])?
                history.compare(again.span.bytes, at: start) { actual = ($0, $1.copied(), $2.copied()) }
                let expected = model.difference(again, at: start, limit: limit)
                #expect(actual?.0 == expected?.0, "seed \(seed)")
                #expect(actual?.kept == expected?.kept, "seed \(seed)")
                #expect(actual?.other == expected?.other, "seed \(seed)")
                if actual != nil { found += 1 }
            }
        }
        #expect(found > 500, "seed \(seed)")
    }
}
