import Packets
import Streams
import TestSupport
import Testing

/// Connections have places, or are packed.
@Suite struct ConnectionPlacesTests {
    private final class Receiver: ConnectionReceiver {
        let number: Int

        init(_ number: Int) { self.number = number }

        func received(_ bytes: RawSpan, from direction: Direction, at time: Timestamp, packet: Int) {}
        func missing(_ byteCount: Int, from direction: Direction, at time: Timestamp) {}
        func noticed(_ notice: StreamNotice, from direction: Direction, at time: Timestamp, packet: Int) {}
        func finished(_ ending: Ending, from direction: Direction, at time: Timestamp) {}
        func closed(_ closing: Closing) {}
    }

    private final class Source: ReceiverSource {
        let isShared: Bool

        init(isShared: Bool) { self.isShared = isShared }

        func receiver(from numbers: inout PackedNumbers) -> any ConnectionReceiver {
            var number = 0
            numbers.pass(&number)
            return Receiver(number)
        }
    }

    /// Any order of opening, packing, unpacking and closing, with records of any size and sources of any kind.
    @Test func whatIsPackedIsUnpacked() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var places = ConnectionPlaces()
        // More than a tag can distinguish.
        let sources = (0..<400).map { Source(isShared: $0 % 3 > 0) }
        var numbers: [Int: Int] = [:]
        var contents: [Int: [UInt8]] = [:]
        var packedBy: [Int: Source] = [:]
        var inUse: [Int: Int] = [:]
        for number in 0..<20_000 {
            let id = Int.random(in: 0..<300, using: &generator)
            if numbers[id] == nil {
                let place = places.add(id)
                #expect(inUse.updateValue(id, forKey: place) == nil, "seed \(seed)")
                numbers[id] = number
                contents[id] = [UInt8](
                    repeating: UInt8(truncatingIfNeeded: id), count: Int.random(in: 0..<600, using: &generator))
            } else if let source = packedBy[id], Bool.random(using: &generator) {
                #expect(places.place(of: id) == nil && places.isPacked(id))
                var peeked = try #require(places.packed(id))
                #expect((source.receiver(from: &peeked) as? Receiver)?.number == numbers[id], "seed \(seed)")
                let unpacked = places.unpack(id)
                var (place, packed, unpacker) = try #require(unpacked)
                #expect(unpacker === source, "seed \(seed)")
                #expect((unpacker.receiver(from: &packed) as? Receiver)?.number == numbers[id], "seed \(seed)")
                var content: [UInt8] = []
                packed.pass(&content)
                #expect(content == contents[id], "seed \(seed)")
                #expect(inUse.updateValue(id, forKey: place) == nil, "seed \(seed)")
                packedBy[id] = nil
            } else if packedBy[id] == nil, Bool.random(using: &generator),
                let source = sources.randomElement(using: &generator)
            {
                var packed = places.packing(near: Timestamp(nanoseconds: 5))
                var (number, content) = (try #require(numbers[id]), try #require(contents[id]))
                packed.pass(&number)
                packed.pass(&content)
                inUse[try #require(places.place(of: id))] = nil
                places.pack(id, packed, source)
                packedBy[id] = source
            } else {
                if let place = places.place(of: id) { inUse[place] = nil }
                places.remove(id)
                #expect(places.place(of: id) == nil && !places.isPacked(id) && places.packed(id) == nil)
                (numbers[id], packedBy[id]) = (nil, nil)
            }
        }
        // Places are used again, too.
        #expect((inUse.keys.max() ?? 0) < 300)
        #expect(places.idCount <= 300)
    }
}
