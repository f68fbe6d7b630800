/// Connections by their two ends: an open-addressing table of places in one array.
struct FlowTable {
    /// All connections; the free ones in between are in `free`.
    var flows: [Flow] = []
    private var free: [Int] = []
    /// The upper half of a hash, and a place plus 1; 0 if the slot is empty.
    private var slots = [UInt64](repeating: 0, count: 256)
    private var used = 0
    /// Random, so that no capture can be crafted whose connections all collide in one slot.
    private let seed = UInt64.random(in: .min ... .max)

    private var mask: Int { slots.count - 1 }

    /// The place of a connection.
    @inline(__always)
    func find(_ key: FlowKey) -> Int? {
        let hash = key.hash(seed)
        let tag = hash >> 32
        let short = ShortFlowKey(key)
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 {
            let entry = slots[slot]
            if entry >> 32 == tag {
                let index = Int(entry & 0xffff_ffff) - 1
                // The short key is compared in place: to ask the connection itself would copy it.
                if flows[index].shortKey == short, key.isIPv4 || flows[index].wideKey?.key == key { return index }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Adds a connection whose ends are not in the table yet.
    mutating func insert(_ flow: Flow) -> Int {
        if (used + 1) * 4 > slots.count * 3 { grow() }
        let index: Int
        if let place = free.popLast() {
            flows[place] = flow
            index = place
        } else {
            index = flows.count
            flows.append(flow)
        }
        place(flow.key.hash(seed), index)
        used += 1
        return index
    }

    /// Removes a connection; its place is reused.
    mutating func remove(_ index: Int) {
        let hash = flows[index].key.hash(seed)
        var slot = Int(truncatingIfNeeded: hash) & mask
        let entry = (hash & ~0xffff_ffff) | UInt64(index + 1)
        while slots[slot] != entry {
            guard slots[slot] != 0 else { return }
            slot = (slot + 1) & mask
        }
        // Entries after it that a search would now miss move up.
        var gap = slot
        var next = (slot + 1) & mask
        while slots[next] != 0 {
            let key = flows[Int(slots[next] & 0xffff_ffff) - 1].key
            let home = Int(truncatingIfNeeded: key.hash(seed)) & mask
            if (next - home) & mask >= (next - gap) & mask {
                slots[gap] = slots[next]
                gap = next
            }
            next = (next + 1) & mask
        }
        slots[gap] = 0
        used -= 1
        flows[index].state = .free
        free.append(index)
    }

    private mutating func place(_ hash: UInt64, _ index: Int) {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = (hash & ~0xffff_ffff) | UInt64(index + 1)
    }

    private mutating func grow() {
        slots = [UInt64](repeating: 0, count: slots.count * 2)
        for index in flows.indices where flows[index].state != .free {
            place(flows[index].key.hash(seed), index)
        }
    }
}
