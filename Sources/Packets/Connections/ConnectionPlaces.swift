import Streams

/// Where the connections of a table are, by their ids: at a place of the table, or packed, because nothing happens in them.
///
/// Ids are small numbers that are used again.
package struct ConnectionPlaces {
    /// By id: the place, `-2` minus that of its record, or -1 if there is no such connection.
    private var places: [Int32] = []
    private var freePlaces: [Int32] = []
    /// How many places there are.
    private var count: Int32 = 0
    private var records = PackedRecords()
    /// What unpacks the receivers of many connections, by the tags of their records.
    private var sources: [any ReceiverSource] = []
    /// What unpacks others, by their ids.
    private var ownSources: [Int: any ReceiverSource] = [:]
    /// A time that those packed are close to.
    private var base: Timestamp?

    /// The tag of a record whose receiver has a source of its own.
    private static var own: UInt8 { .max }

    /// None yet.
    package init() {}

    /// How many ids there have been.
    package var idCount: Int { places.count }

    /// The place of a connection; negative if it is packed, or there is none.
    @inline(__always)
    package subscript(id: Int) -> Int { Int(places[id]) }

    /// The place of a connection; nil if it is packed, or there is none.
    @inline(__always)
    package func place(of id: Int) -> Int? { places[id] >= 0 ? Int(places[id]) : nil }

    /// Whether a connection is packed.
    package func isPacked(_ id: Int) -> Bool { places[id] < -1 }

    /// A place for a connection that has none.
    package mutating func add(_ id: Int) -> Int {
        while places.count <= id { places.append(-1) }
        if let place = freePlaces.popLast() {
            places[id] = place
        } else {
            places[id] = count
            count += 1
        }
        return Int(places[id])
    }

    /// Nothing packed yet of a connection.
    ///
    /// - Parameter time: a time that its times are close to.
    package mutating func packing(near time: Timestamp) -> PackedNumbers {
        let base = base ?? time
        self.base = base
        return PackedNumbers(near: base)
    }

    /// Packs a connection. Its place is free.
    ///
    /// - Parameters:
    ///   - numbers: what there is to know of it.
    ///   - source: what unpacks its receiver.
    package mutating func pack(_ id: Int, _ numbers: consuming PackedNumbers, _ source: any ReceiverSource) {
        numbers.tag = tag(of: source)
        if numbers.tag == Self.own { ownSources[id] = source }
        freePlaces.append(places[id])
        places[id] = Int32(-2 - records.add(numbers.bytes))
    }

    /// What there is to know of a packed connection.
    package func packed(_ id: Int) -> PackedNumbers? {
        guard isPacked(id), let base else { return nil }
        return PackedNumbers(records[-2 - Int(places[id])], near: base)
    }

    /// Unpacks a connection, which gets a place again.
    package mutating func unpack(_ id: Int) -> (place: Int, numbers: PackedNumbers, source: any ReceiverSource)? {
        guard let numbers = packed(id) else { return nil }
        let own = ownSources.isEmpty ? nil : ownSources.removeValue(forKey: id)
        records.remove(-2 - Int(places[id]))
        return (add(id), numbers, own ?? sources[Int(numbers.tag)])
    }

    /// A connection is over: its place is free, and its id.
    package mutating func remove(_ id: Int) {
        if places[id] >= 0 {
            freePlaces.append(places[id])
        } else if isPacked(id) {
            ownSources[id] = nil
            records.remove(-2 - Int(places[id]))
        }
        places[id] = -1
    }

    private mutating func tag(of source: any ReceiverSource) -> UInt8 {
        guard source.isShared else { return Self.own }
        if let place = sources.lastIndex(where: { $0 === source }) { return UInt8(place) }
        guard sources.count < Int(Self.own) else { return Self.own }
        sources.append(source)
        return UInt8(sources.count - 1)
    }
}
