import Streams

/// The receivers of replayed connections, by their slots.
struct ReplayedConnections: ReceiverTable {
    private struct Connection {
        var receiver: (any ConnectionReceiver)?
        /// Counts from 1 in order of opening.
        var number = 0
        /// How many chunks it had; wraps around.
        var chunks: UInt32 = 0
        var isDormant = false
    }

    private var connections: [Connection] = []
    /// How many were opened.
    private var opened = 0
    /// The slot to which something happens.
    private var current = 0
    var awake: AwakePlaces

    /// None yet.
    init(awakeLimit: Int) { awake = AwakePlaces(limit: awakeLimit) }

    /// A connection opened.
    mutating func open(_ receiver: any ConnectionReceiver, at slot: Int) {
        while connections.count <= slot { connections.append(Connection()) }
        opened += 1
        connections[slot] = Connection(receiver: receiver, number: opened)
        current = slot
        watch(slot)
    }

    /// The receiver of a connection to which something happens.
    ///
    /// - Parameter chunks: how many chunks it gets.
    @inline(__always)
    mutating func visit(_ slot: Int, chunks: UInt32 = 0) -> (any ConnectionReceiver)? {
        connections[slot].chunks &+= chunks
        if connections[slot].isDormant { awaken(slot) }
        return connections[slot].receiver
    }

    @inline(never)
    private mutating func awaken(_ slot: Int) {
        connections[slot].isDormant = false
        current = slot
        watch(slot)
    }

    /// A connection is over.
    mutating func close(_ slot: Int) { connections[slot] = Connection() }

    func awakeConnection(at place: Int) -> AwakePlaces.Entry? {
        guard !connections[place].isDormant, connections[place].receiver != nil else { return nil }
        return AwakePlaces.Entry(place, number: connections[place].number, segments: connections[place].chunks)
    }

    mutating func rest(at place: Int) -> Bool {
        guard place != current, let dormant = connections[place].receiver?.dormant() else { return false }
        connections[place].receiver = dormant
        connections[place].isDormant = true
        return true
    }
}
