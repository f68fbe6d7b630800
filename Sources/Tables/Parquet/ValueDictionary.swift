import Streams

/// The distinct values of a column, each with an index: the content of a Parquet dictionary page.
struct ValueDictionary {
    /// Each value after its length, in four bytes.
    private(set) var page: [UInt8] = []
    /// Where in it each value begins.
    private var places: [Int] = []
    /// Indices by their value's hash, open addressing; -1 is free.
    private var slots: [Int32] = []
    /// Values that were found lately, by their length and first byte; -1 is none. Rows of a connection follow one another.
    private var recent = [Int32](repeating: -1, count: 8)

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
        let short = value.byteCount &+ (value.byteCount > 0 ? Int(value[byte: 0]) : 0)
        let known = recent[short & 7]
        if known >= 0, self.value(Int(known), is: value) { return Int(known) }
        if slots.isEmpty { slots = Array(repeating: -1, count: Self.fewest) }
        var slot = Self.hash(value) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if self.value(index, is: value) {
                recent[short & 7] = Int32(index)
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
        recent[short & 7] = Int32(index)
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

    /// Keyed: values are the network's, and must not be chosen so that they meet.
    private static func hash(_ value: RawSpan) -> Int {
        var hasher = Hasher()
        value.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}
