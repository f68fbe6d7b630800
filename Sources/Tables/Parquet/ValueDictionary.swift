import Streams

/// The distinct values of a column, each with an index: the content of a Parquet dictionary page.
struct ValueDictionary {
    /// Each value after its length, in four bytes.
    private(set) var page: [UInt8] = []
    /// Where in it each value begins.
    private var places: [Int] = []
    /// Indices by their value's hash, open addressing; -1 is free.
    private var slots: [Int32] = []
    /// Values that were found lately. Rows follow others of the same connection, and names repeat.
    private var recent = [Recent](repeating: Recent(), count: 16)

    /// A value that was found.
    private struct Recent {
        var ends = Ends()
        /// -1: there is none.
        var index: Int32 = -1
    }

    private static let fewest = 64

    /// Removes all values; their memory is used again.
    mutating func removeAll() {
        page.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
        for slot in slots.indices { slots[slot] = -1 }
        for place in recent.indices { recent[place] = Recent() }
    }

    /// How many values there are.
    var count: Int { places.count }

    /// The index of a value, which is added if it is new.
    mutating func index(of value: RawSpan) -> Int {
        let ends = Ends(value)
        let place = ends.place
        let known = recent[place]
        if known.index >= 0, known.ends == ends, ends.areAll || self.value(Int(known.index), is: value) {
            return Int(known.index)
        }
        let index = indexAmongAll(value)
        recent[place] = Recent(ends: ends, index: Int32(index))
        return index
    }

    private mutating func indexAmongAll(_ value: RawSpan) -> Int {
        if slots.isEmpty { slots = Array(repeating: -1, count: Self.fewest) }
        var slot = Self.hash(value) & (slots.count - 1)
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if self.value(index, is: value) { return index }
            slot = (slot + 1) & (slots.count - 1)
        }
        let index = places.count
        slots[slot] = Int32(index)
        places.append(page.count)
        page.append(first: 4, of: UInt64(value.byteCount))
        page.append(contentsOf: value)
        if 2 * places.count > slots.count { grow() }
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

    /// Keyed: values are the network's, and must not be chosen so that they collide.
    private static func hash(_ value: RawSpan) -> Int {
        var hasher = Hasher()
        value.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}

/// The first bytes of a value, and its last ones: all of a short value.
private struct Ends: Equatable {
    private var first: UInt64 = 0
    private var last: UInt64 = 0
    private var count = 0

    init() {}

    init(_ value: RawSpan) {
        count = value.byteCount
        switch count {
        case 8...:
            first = value.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt64.self)
            last = value.unsafeLoadUnaligned(fromByteOffset: count - 8, as: UInt64.self)
        case 4...:
            first = UInt64(value.unsafeLoadUnaligned(fromByteOffset: 0, as: UInt32.self))
            last = UInt64(value.unsafeLoadUnaligned(fromByteOffset: count - 4, as: UInt32.self))
        default:
            for index in 0..<count { first = first << 8 | UInt64(value[byte: index]) }
        }
    }

    /// Whether these are all bytes that there are.
    var areAll: Bool { count <= 16 }

    /// A place among 16. Not keyed: values that collide here are only found more slowly.
    var place: Int {
        let mixed = (first ^ last &<< 1 ^ UInt64(truncatingIfNeeded: count)) &* 0x9e37_79b9_7f4a_7c15
        return Int(truncatingIfNeeded: mixed &>> 60)
    }
}
