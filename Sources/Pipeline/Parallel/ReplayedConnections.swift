import Packets
import Streams

/// The receivers of replayed connections, by their slots.
struct ReplayedConnections: ConnectionTable {
    private struct Connection {
        var receiver: (any ConnectionReceiver)?
        /// Counts from 1 in the order in which receivers were made.
        var number = 0
        /// How many chunks it had since then; wraps around.
        var chunks: UInt32 = 0
    }

    /// Those that are not packed.
    private var connections: [Connection] = []
    /// Where each is; its id is its slot.
    private var places = ConnectionPlaces()
    /// How many receivers were made.
    private var made = 0
    /// When the first one opened.
    private var start = Timestamp.distantFuture
    /// The slot to which something happens.
    private var current = 0
    var awake: AwakeConnections

    /// None yet.
    init(awakeLimit: Int) { awake = AwakeConnections(limit: awakeLimit) }

    /// A connection opened.
    ///
    /// - Parameter time: when.
    mutating func open(_ receiver: any ConnectionReceiver, at slot: Int, since time: Timestamp) {
        start = min(start, time)
        put(receiver, slot, at: places.add(slot))
    }

    /// The receiver of a connection to which something happens.
    ///
    /// - Parameter chunks: how many chunks it gets.
    @inline(__always)
    mutating func visit(_ slot: Int, chunks: UInt32 = 0) -> (any ConnectionReceiver)? {
        var place = places[slot]
        if place < 0 {
            guard let unpacked = unpack(slot) else { return nil }
            place = unpacked
        }
        connections[place].chunks &+= chunks
        return connections[place].receiver
    }

    @inline(never)
    private mutating func unpack(_ slot: Int) -> Int? {
        guard case (let place, var numbers, let source)? = places.unpack(slot) else { return nil }
        put(source.receiver(from: &numbers), slot, at: place)
        return place
    }

    private mutating func put(_ receiver: any ConnectionReceiver, _ slot: Int, at place: Int) {
        made += 1
        if place == connections.count { connections.append(Connection()) }
        connections[place] = Connection(receiver: receiver, number: made)
        current = slot
        watch(slot)
    }

    /// A connection is over.
    mutating func close(_ slot: Int) {
        if let place = places.place(of: slot) { connections[place] = Connection() }
        places.remove(slot)
    }

    func awakeConnection(_ slot: Int) -> AwakeConnections.Entry? {
        guard let place = places.place(of: slot) else { return nil }
        return AwakeConnections.Entry(slot, number: connections[place].number, segments: connections[place].chunks)
    }

    mutating func rest(_ slot: Int) -> Bool {
        guard slot != current, let place = places.place(of: slot) else { return false }
        var numbers = places.packing(near: start)
        guard let source = connections[place].receiver?.pack(into: &numbers) else { return false }
        connections[place] = Connection()
        places.pack(slot, numbers, source)
        return true
    }
}
