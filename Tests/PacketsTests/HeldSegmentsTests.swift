import Streams
import TestSupport
import Testing

@testable import Packets

/// Segments that wait after a gap.
@Suite struct HeldSegmentsTests {
    /// A copy of what waits is written over it. If all that waits were copied for that, time would grow with its square.
    @Test(arguments: [OverlapPolicy.first, .last]) func overlapsAreOverwrittenInPlace(policy: OverlapPolicy) {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var held = HeldSegments()
        var expected: [UInt8] = []
        func insert(_ bytes: [UInt8], at start: Int) {
            let before = expected
            held.insert(
                bytes.span.bytes, at: start, time: Timestamp(nanoseconds: 0), packet: 1, policy: policy
            ) { range, other in
                #expect(other.copied() == Array(before[start + range.lowerBound..<start + range.upperBound]))
            }
        }
        for _ in 0..<100 {
            let bytes = generator.bytes(100)
            insert(bytes, at: expected.count)
            expected += bytes
        }
        func place() -> UnsafeRawPointer? { held.bytes.withUnsafeBytes { $0.baseAddress } }
        let before = place()
        for _ in 0..<100 {
            let start = Int.random(in: 0..<9_800, using: &generator)
            let bytes = generator.bytes(.random(in: 1...200, using: &generator))
            insert(bytes, at: start)
            if policy == .last { expected.replaceSubrange(start..<start + bytes.count, with: bytes) }
        }
        #expect(place() == before, "seed \(seed)")
        #expect(held.bytes == expected, "seed \(seed)")
    }
}
