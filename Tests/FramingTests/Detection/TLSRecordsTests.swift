import Streams
import Testing

@testable import Framing

/// Records of TLS are evidence only if they follow one another up to the end of the bytes.
@Suite struct TLSRecordsTests {
    private func record(_ length: Int, using generator: inout SeededGenerator) -> [UInt8] {
        let type = UInt8.random(in: 20...23, using: &generator)
        return [type, 3, 3, UInt8(length >> 8), UInt8(length & 255)] + bytes(length, using: &generator)
    }

    /// Records that follow one another.
    private func row(using generator: inout SeededGenerator) -> [[UInt8]] {
        (0..<Int.random(in: 2...6, using: &generator)).map { _ in
            record(Int.random(in: 1...600, using: &generator), using: &generator)
        }
    }

    /// Bytes that start no record.
    private func bytes(_ count: Int, using generator: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8.random(in: 24...255, using: &generator) }
    }

    private func evidence(_ bytes: [UInt8]) -> String? { TLSRecords.evidence(in: bytes.span.bytes) }

    /// Wherever a row of records is picked up, and wherever in a record the bytes end, their heads are counted.
    @Test func aRowUpToTheEndIsEvidence() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let records = row(using: &generator)
            let before = bytes(Int.random(in: 0...40, using: &generator), using: &generator)
            let last = try #require(records.last)
            // The last head may be cut short; it is not counted then.
            let cut = Int.random(in: 1...last.count, using: &generator)
            let seen = before + records.dropLast().joined() + last.prefix(cut)
            let count = records.count - (cut < 5 ? 1 : 0)
            if count < 2 {
                #expect(evidence(seen) == nil, "seed \(seed)")
            } else {
                #expect(evidence(seen)?.hasPrefix("\(count) TLS records") == true, "seed \(seed)")
            }
        }
    }

    /// Anything else after them, however many they are, makes them the body of something.
    @Test func aRowThatBreaksIsNone() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let records = Array(row(using: &generator).joined())
            #expect(evidence(records) != nil, "seed \(seed)")
            // Fewer bytes than a head has may be the beginning of one.
            let after = bytes(Int.random(in: 5...40, using: &generator), using: &generator)
            #expect(evidence(records + after) == nil, "seed \(seed)")
            #expect(evidence(records + after + record(30, using: &generator)) == nil, "seed \(seed)")
        }
    }

    /// A row does not go on with another version, an empty record, one longer than TLS allows, or a type it does not have.
    @Test(
        arguments: [[23, 3, 1, 0, 9], [23, 3, 3, 0, 0], [23, 3, 3, 0x48, 1], [24, 3, 3, 0, 9], [23, 2, 3, 0, 9]]
            as [[UInt8]])
    func onlyHeadsOfTLSAreCounted(head: [UInt8]) {
        var generator = SeededGenerator(seed: 1)
        let first = [23, 3, 3, 0, 9] + bytes(9, using: &generator)
        let rest = bytes(4, using: &generator)
        #expect(evidence(first + head + rest) == nil)
        #expect(evidence(first + [23, 3, 3, 0, 9] + rest) != nil)
        #expect(evidence(first + [23, 3, 3, 0x48, 0] + rest) != nil)
    }
}
