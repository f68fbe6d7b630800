import Streams
import Testing

@testable import Framing

/// Bytes of incomplete frames, and the buffers that they lie in.
struct HeldBytesTests {
    private static func bytes(_ count: Int, _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = (0..<251).map { _ in UInt8.random(in: 0...255, using: &random) }
        while bytes.count < count { bytes += bytes }
        return Array(bytes.prefix(count))
    }

    /// Whatever buffers are spare, what is held is what was added, and the accounted memory depends on that alone.
    @Test func spareBuffersChangeNothing() {
        let seed = UInt64.random(in: 0 ... .max)
        var random = SeededGenerator(seed: seed)
        let scratch = FramingScratch()
        var others: [HeldBytes] = []
        for round in 0..<440 {
            let isLarge = round % 11 == 0
            let all = Self.bytes(Int.random(in: 1...(isLarge ? 200_000 : 5_000), using: &random), &random)
            var (held, alone) = (HeldBytes(), HeldBytes())
            let own = FramingScratch()
            var at = 0
            let isKnown = Bool.random(using: &random)
            while at < all.count {
                let longest = isLarge ? 65_000 : Bool.random(using: &random) ? 2_000 : 100
                let end = min(all.count, at + Int.random(in: 1...longest, using: &random))
                let total = isKnown ? all.count : end
                held.append(all.span.bytes.extracting(at..<end), of: total, scratch)
                alone.append(all.span.bytes.extracting(at..<end), of: total, own)
                at = end
                #expect(held.count == at && held.memory == alone.memory, "seed \(seed)")
            }
            #expect(held.storage[..<at] == all[...], "seed \(seed)")
            others.append(held)
            if others.count > 20 {
                var gone = others.remove(at: Int.random(in: 0..<others.count, using: &random))
                gone.removeAll(scratch)
                #expect(gone.isEmpty && gone.storage.count <= HeldBytes.kept, "seed \(seed)")
            }
        }
    }

    /// A head may announce any length: until the bytes come, there is room for a few times as many as there are.
    @Test func anAnnouncedLengthTakesNoMemory() {
        let scratch = FramingScratch()
        for size in 6...16 { scratch.spares.put([UInt8](repeating: 0, count: 1 << size)) }
        for count in [1, 10, 100, 1_000] {
            var held = HeldBytes()
            held.append([UInt8](repeating: 1, count: count).span.bytes, of: 60_000, scratch)
            #expect(held.storage.count <= max(8 * count, 64) && held.storage.count >= count)
        }
    }

    /// What is allocated is accounted for, also for the short beginning of a long frame.
    @Test(arguments: [1, 65, 100, 200, 256, 257, 600, 5_000], [0, 300, 1_000, 60_000])
    func whatIsAllocatedIsAccounted(count: Int, total: Int) {
        var held = HeldBytes()
        held.append([UInt8](repeating: 1, count: count).span.bytes, of: total, FramingScratch())
        #expect(held.storage.count <= held.memory && held.memory <= max(4 * count, 512))
    }

    @Test func spareBuffersAreLimited() {
        var spares = SpareBuffers()
        for size in [0, 1, 32, 96, 1_000, 65_600, 98_304, 200_000, 64, 512, 1_024, 1 << 16, 1 << 17] {
            for _ in 0..<5_000 { spares.put([UInt8](repeating: 0, count: size)) }
        }
        var kept = 0
        for size in [64, 512, 1_024, 1 << 16] {
            while let buffer = spares.take(size, orTwice: false) {
                #expect(buffer.count == size)
                kept += buffer.count
            }
        }
        // The newest is kept besides.
        #expect(kept == 4 * 128 << 10 + 1 << 16)
        for size in [1, 32, 1 << 17] { #expect(spares.take(size, orTwice: true) == nil) }
    }
}
