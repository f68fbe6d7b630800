import Streams

/// A connection that is being recorded, or one of its legs.
///
/// A class: what changes for each chunk is changed in place.
final class OpenLeg {
    let leg: ConnectionLeg
    let receiver: any ConnectionReceiver
    /// How many bytes were relayed in each direction.
    @exclusivity(unchecked) var offsets = PerDirection(fromClient: 0, fromServer: 0)
    /// How many of the most recent bytes were not recorded.
    @exclusivity(unchecked) var unrecorded = PerDirection(fromClient: 0, fromServer: 0)
    var firstToFinish: Direction?

    init(_ leg: ConnectionLeg, receiver: any ConnectionReceiver) { (self.leg, self.receiver) = (leg, receiver) }
}

/// The connections that are being recorded, by their numbers. Those that were looked up lately are found without hashing.
final class OpenLegs {
    private var all: [ConnectionLeg: OpenLeg] = [:]
    /// How many connections are found without hashing; a power of two.
    private static var recentConnections: Int { 256 }
    /// By the last bits of the number, and the leg. Nothing that is called while it changes comes back to it.
    @exclusivity(unchecked) private var recent = [OpenLeg?](repeating: nil, count: 2 * recentConnections)

    private func place(of leg: ConnectionLeg) -> Int {
        (leg.number & (Self.recentConnections - 1)) << 1 | (leg.leg == .out ? 1 : 0)
    }

    /// The leg, if it is open.
    subscript(leg: ConnectionLeg) -> OpenLeg? {
        let place = place(of: leg)
        if let known = recent[place], known.leg == leg { return known }
        guard let found = all[leg] else { return nil }
        recent[place] = found
        return found
    }

    func add(_ opened: OpenLeg) { all[opened.leg] = opened }

    func remove(_ leg: ConnectionLeg) -> OpenLeg? {
        let place = place(of: leg)
        if recent[place]?.leg == leg { recent[place] = nil }
        return all.removeValue(forKey: leg)
    }

    /// All legs, in order of opening.
    var legsInOrder: [ConnectionLeg] { all.keys.sorted() }
}
