import TestSupport
import Testing

@testable import Packets

/// Records keep their bytes, whatever is added and removed besides.
@Suite struct PackedRecordsTests {
    @Test func everyRecordKeepsItsBytes() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var records = PackedRecords()
        var expected: [Int: [UInt8]] = [:]
        for round in 0..<50_000 {
            // At most a thousand at once.
            if expected.count == 1_000 || round % 3 == 0, let place = expected.keys.randomElement(using: &generator) {
                let bytes = try #require(expected[place])
                expected[place] = nil
                #expect(Array(records[place].prefix(bytes.count)) == bytes, "seed \(seed)")
                records.remove(place)
            } else {
                let count = Int.random(in: 0..<100, using: &generator)
                let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                let place = records.add(bytes)
                #expect(expected.updateValue(bytes, forKey: place) == nil, "seed \(seed)")
            }
        }
        for (place, bytes) in expected { #expect(Array(records[place].prefix(bytes.count)) == bytes, "seed \(seed)") }
        // A page of each size is enough.
        #expect(records.pageCount <= 26)
    }

    /// Records that grow leave their pages to others.
    @Test func pagesAreUsedForOtherSizes() {
        var records = PackedRecords()
        var places = (0..<20_000).map { _ in records.add([UInt8](repeating: 1, count: 60)) }
        let before = records.pageCount
        for size in [64, 68, 72, 76, 60, 64] {
            for number in places.indices {
                records.remove(places[number])
                places[number] = records.add([UInt8](repeating: 2, count: size))
            }
        }
        // At once, as for the next sizes, and a page or two that are not full.
        #expect(records.pageCount <= before * 76 / 60 + 3)
    }

    @Test(arguments: [1, 4, 30_000, 65_533, 65_536]) func anySizeFits(size: Int) {
        var records = PackedRecords()
        let places = (0..<5).map { records.add([UInt8](repeating: UInt8($0), count: size)) }
        for (number, place) in places.enumerated() {
            #expect(records[place].prefix(size) == [UInt8](repeating: UInt8(number), count: size)[...])
        }
    }
}
