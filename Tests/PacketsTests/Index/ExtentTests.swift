import Packets
import Testing

/// Extents have every place that was added, in order.
@Suite struct ExtentTests {
    private static func isOrdered(_ extents: [Range<Int>]) -> Bool {
        zip(extents, extents.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }
    }

    private static func covers(_ extents: [Range<Int>], _ place: Range<Int>) -> Bool {
        extents.contains { $0.lowerBound <= place.lowerBound && place.upperBound <= $0.upperBound }
    }

    @Test func runsHaveEveryPlace() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        for _ in 0..<300 {
            var runs = ExtentRuns()
            var places: [Range<Int>] = []
            var position = 0
            let gap = Int.random(in: 0...40, using: &random)
            for _ in 0..<Int.random(in: 1...60, using: &random) {
                position += Int.random(in: 0...60, using: &random)
                // Some are added late.
                let start = max(0, position - (random.chance(2) ? Int.random(in: 0...300, using: &random) : 0))
                let place = start..<start + Int.random(in: 1...30, using: &random)
                position = max(position, place.upperBound)
                places.append(place)
                runs.add(place, joining: gap)
                #expect(Self.isOrdered(runs.extents), "seed \(seed)")
            }
            #expect(places.allSatisfy { Self.covers(runs.extents, $0) }, "seed \(seed)")
            let most = Int.random(in: 1...10, using: &random)
            runs.coarsen(to: most)
            #expect(runs.extents.count <= most && Self.isOrdered(runs.extents), "seed \(seed)")
            #expect(places.allSatisfy { Self.covers(runs.extents, $0) }, "seed \(seed)")
        }
    }

    @Test func placesWithMuchInBetweenStayApart() {
        var runs = ExtentRuns()
        runs.add(10..<20, joining: 5)
        runs.add(25..<30, joining: 5)
        runs.add(36..<40, joining: 5)
        #expect(runs.extents == [10..<30, 36..<40])
        runs.add(31..<33, joining: 0)
        #expect(runs.extents == [10..<30, 31..<33, 36..<40])
        runs.coarsen(to: 2)
        #expect(runs.extents == [10..<33, 36..<40])
    }

    @Test func aSetHasEveryExtentWithinItsLimit() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        for limit in [2, 10, 100_000] {
            var set = ExtentSet(limit: limit)
            var all: [Range<Int>] = []
            for _ in 0..<500 {
                let start = Int.random(in: 0...1_000_000, using: &random)
                let extent = start..<start + Int.random(in: 1...100, using: &random)
                all.append(extent)
                set.insert([extent])
            }
            let joined = set.joined()
            #expect(joined.count <= limit && Self.isOrdered(joined), "seed \(seed)")
            #expect(all.allSatisfy { Self.covers(joined, $0) }, "seed \(seed)")
            if limit == 100_000 {
                #expect(joined.reduce(0) { $0 + $1.count } == Set(all.joined()).count, "seed \(seed)")
            }
        }
    }
}
