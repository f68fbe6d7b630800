import Streams

/// The distinct values of a column, each with an index: the content of a Parquet dictionary page.
struct ValueDictionary {
    /// Each value after its length, in four bytes.
    private(set) var page: [UInt8] = []
    /// Where in it each value begins.
    private var places: [Int] = []
    /// Indices by their value's hash, open addressing; -1 is free.
    private var slots: [Int32] = []
    /// Values that were found lately; -1 is none. Rows follow others of the same connection, and names repeat.
    private var recent = [Int32](repeating: -1, count: 16)

    private static let fewest = 64

    /// Removes all values; their memory is used again.
    mutating func removeAll() {
        page.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        for slot in slots.indices { slots[slot] = -1 }
        for index in recent.indices { recent[index] = -1 }
    }

    /// How many values there are.
    var count: Int { places.count }

    /// The index of a value, which is added if it is new.
    mutating func index(of value: RawSpan) -> Int {
        let place = Self.placeAmongRecent(value)
        let known = recent[place]
        if known >= 0, self.value(Int(known), is: value) { return Int(known) }
        if slots.isEmpty { slots = Array(repeating: -1, count: Self.fewest) }
        var slot = Self.hash(value) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if self.value(index, is: value) {
                recent[place] = Int32(index)
                return index
            }
            slot = (slot + 1) & (slots.count - 1)
        }
        let index = places.count
        slots[slot] = Int32(index)
        places.append(page.count)
        page.append(first: 4, of: UInt64(value.byteCount))
        page.append(contentsOf: value)
        if 2 * places.count > slots.count { grow() }
        recent[place] = Int32(index)
        return index
    }

    private func value(_ index: Int, is value: RawSpan) -> Bool {
        let start = places[index] + 4
        let end = index + 1 < places.count ? places[index + 1] : page.count
        return page.span.bytes.extracting(start..<end).elementsEqual(value)
    }

    private mutating func grow() {
        slots = Array(repeating: -1, count: 2 * slots.count)
        for (index, start) in places.enumerated() {
            let end = index + 1 < places.count ? places[index + 1] : page.count
            var slot = Self.hash(page.span.bytes.extracting(start + 4..<end)) & (slots.count - 1)
            while slots[slot] >= 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(index)
        }
    }

    /// Not keyed: values that collide here are only found more slowly.
    private static func placeAmongRecent(_ value: RawSpan) -> Int {
        let count = value.byteCount
        var word = UInt64(truncatingIfNeeded: count)
        if count >= 8 {
            word ^= value.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
            word ^= value.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self) &<< 1
        } else {
            for index in 0..<count { word = word &<< 8 | UInt64(value[unchecked: index]) }
        }
        return Int(truncatingIfNeeded: (word &* 0x9e37_79b9_7f4a_7c15) >> 60)
    }

    /// Keyed: values are the network's, and must not be chosen so that they meet.
    private static func hash(_ value: RawSpan) -> Int {
        var hasher = Hasher()
        value.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
