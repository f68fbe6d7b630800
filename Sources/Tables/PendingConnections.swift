import Framing
import Streams
import Trace

/// Connections whose rows wait until they are over: only then is it known which files they belong to.
///
/// Each has a place in an array, not an object of its own: retaining an object would wait for its memory, which is rarely in a cache.
struct PendingConnections {
    private var places: [Int: Int] = [:]
    private var free: [Int] = []
    private var all: [PendingConnection] = []
    /// The connection that had an event last.
    private var last: (number: Int, place: Int)?

    /// The place of a connection, by its number; nil if it is not here.
    mutating func place(of number: Int) -> Int? {
        if let last, last.number == number { return last.place }
        guard let place = places[number] else { return nil }
        last = (number, place)
        return place
    }

    /// Whether a connection is here.
    func contains(_ number: Int) -> Bool { places[number] != nil }

    /// The connection in a place.
    subscript(place: Int) -> PendingConnection {
        get { all[place] }
        _modify { yield &all[place] }
    }

    /// Adds a connection.
    mutating func add(_ connection: PendingConnection, number: Int) {
        if let place = free.popLast() {
            all[place] = connection
            places[number] = place
        } else {
            places[number] = all.count
            all.append(connection)
        }
    }

    /// Takes a connection out.
    mutating func remove(_ number: Int) -> PendingConnection? {
        last = nil
        guard let place = places.removeValue(forKey: number) else { return nil }
        free.append(place)
        var taken = PendingConnection()
        swap(&taken, &all[place])
        return taken
    }

    /// The numbers of all connections, in order.
    var numbers: [Int] { places.keys.sorted() }

    /// The places of all connections.
    var indices: some Collection<Int> { places.values }
}

/// A connection, and its rows until it is over.
struct PendingConnection {
    /// The connection, or its first leg; nil in a place that is free.
    var connection: TracedConnection?
    /// How many began like it, with itself.
    var alike = 1
    /// Whether its rows are wanted.
    var isWanted = false
    /// Its frames, and all other rows.
    var frames = RowBuffer()
    var others = RowBuffer()
    /// The rows before those that are in a store.
    var stored: [Range<Int>] = []
    /// How many frames it had.
    var frameCount = 0
    /// What is known about its TLS, as JSON.
    var tls: String?
    var endings: [LegEnding] = []

    /// How much memory its rows take.
    var capacity: Int { frames.bytes.capacity + others.bytes.capacity }

    /// How one of its legs ended.
    struct LegEnding {
        var leg: Leg?
        var closing: Closing
        var counts: PerDirection<ByteCounts>
        var format: (name: String, by: String)?
    }
}
