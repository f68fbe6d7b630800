import Streams

/// Connections by their two ends: an open-addressing table of ids in one array. Those in which nothing happens are packed.
struct FlowTable {
    /// The connections that are not packed, by their places; the free ones in between have no receiver.
    var flows: [Flow] = []
    /// Where each connection is, by its id.
    private var places = ConnectionPlaces()
    private var freeIDs: [Int32] = []
    /// The upper half of a hash, and an id plus 1; 0 if the slot is empty.
    private var slots = [UInt64](repeating: 0, count: 256)
    private var used = 0
    /// Random, so that no capture can be crafted whose connections all collide in one slot.
    private let seed = UInt64.random(in: .min ... .max)

    private var mask: Int { slots.count - 1 }

    /// How many ids there have been: connections that are over leave theirs to others.
    var idCount: Int { places.idCount }

    /// The id of a connection, and its place; the place is negative if it is packed.
    @inline(__always)
    func find(_ key: FlowKey) -> (id: Int, place: Int)? {
        let hash = key.hash(seed)
        let tag = hash >> 32
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let entry = slots[slot]
            if entry >> 32 == tag {
                let id = Int(entry & 0xffff_ffff) - 1
                let place = places[id]
                if place >= 0 {
                    // Compared in place: to ask the connection itself would copy it.
                    if flows[place].key == key { return (id, place) }
                } else if isPacked(id, key) {
                    return (id, place)
                }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// The place of a connection; nil if it is packed, or over.
    @inline(__always)
    func place(of id: Int) -> Int? { places.place(of: id) }

    /// Whether a connection is packed: then it is open.
    func isPacked(_ id: Int) -> Bool { places.isPacked(id) }

    /// A connection, packed or not; a packed one has no receiver.
    func flow(_ id: Int) -> Flow? {
        guard let place = places.place(of: id) else { return packed(id) }
        return flows[place]
    }

    @inline(never)
    private func isPacked(_ id: Int, _ key: FlowKey) -> Bool { packed(id)?.key == key }

    private func packed(_ id: Int) -> Flow? {
        guard var numbers = places.packed(id) else { return nil }
        return Flow(&numbers)
    }

    /// Adds a connection whose ends are not in the table yet.
    mutating func insert(_ flow: Flow) -> (id: Int, place: Int) {
        if (used + 1) * 4 > slots.count * 3 { grow() }
        let id = freeIDs.popLast().map { Int($0) } ?? places.idCount
        let place = put(flow, at: places.add(id))
        enter(flow.key.hash(seed), id)
        used += 1
        return (id, place)
    }

    /// Removes a connection; its id and its place are used again.
    mutating func remove(_ id: Int) {
        guard let hash = flow(id)?.key.hash(seed) else { return }
        var slot = Int(truncatingIfNeeded: hash) & mask
        let entry = (hash & ~0xffff_ffff) | UInt64(id + 1)
        while slots[slot] != entry {
            guard slots[slot] != 0 else { return }
            slot = (slot + 1) & mask
        }
        // Entries after it that a search would now miss move up.
        var gap = slot
        var next = (slot + 1) & mask
        while slots[next] != 0 {
            let home = Int(truncatingIfNeeded: hashOfConnection(Int(slots[next] & 0xffff_ffff) - 1)) & mask
            if (next - home) & mask >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = 0
        used -= 1
        freeIDs.append(Int32(id))
        vacate(id)
    }

    /// Frees the memory of a connection that is over, when nothing is looked for any more.
    mutating func vacate(_ id: Int) {
        if let place = places.place(of: id) { flows[place].vacate() }
        places.remove(id)
    }

    /// Packs a connection, unless it has to stay.
    ///
    /// - Parameter now: the latest time, to which its times are close.
    mutating func pack(_ id: Int, at now: Timestamp) -> Bool {
        guard let place = places.place(of: id), flows[place].isResting else { return false }
        var numbers = places.packing(near: now)
        flows[place].pass(through: &numbers)
        guard let source = flows[place].receiver?.pack(into: &numbers) else { return false }
        flows[place].vacate()
        places.pack(id, numbers, source)
        return true
    }

    /// Unpacks a connection.
    ///
    /// - Returns: its place.
    mutating func unpack(_ id: Int) -> Int? {
        guard case (let place, var numbers, let source)? = places.unpack(id) else { return nil }
        var flow = Flow(&numbers)
        flow.receiver = source.receiver(from: &numbers)
        return put(flow, at: place)
    }

    private mutating func put(_ flow: Flow, at place: Int) -> Int {
        if place < flows.count {
            flows[place] = flow
        } else {
            flows.append(flow)
        }
        return place
    }

    private func hashOfConnection(_ id: Int) -> UInt64 {
        if let place = places.place(of: id) { return flows[place].key.hash(seed) }
        return packed(id)?.key.hash(seed) ?? 0
    }

    private mutating func enter(_ hash: UInt64, _ id: Int) {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = (hash & ~0xffff_ffff) | UInt64(id + 1)
    }

    private mutating func grow() {
        let entries = slots
        slots = [UInt64](repeating: 0, count: slots.count * 2)
        for entry in entries where entry != 0 {
            let id = Int(entry & 0xffff_ffff) - 1
            enter(hashOfConnection(id), id)
        }
    }
}
