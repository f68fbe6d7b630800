/// Finds the numbers of things that are kept elsewhere, by their hashes: numbers count from 0, in the order of insertion.
///
/// It takes 8 to 20 bytes for each, where a dictionary has to hold the thing itself as well.
package struct NumberIndex: Sendable {
    /// The numbers plus one, each at the first free slot after its hash's; 0: the slot is free.
    @usableFromInline var slots: [UInt32] = []
    /// The hashes by number: the index grows without asking for them again.
    @usableFromInline var hashes: [UInt32] = []

    /// An index of nothing.
    package init() {}

    /// How many numbers it has.
    package var count: Int { hashes.count }

    /// The number of a thing; nil if it has none.
    ///
    /// - Parameters:
    ///   - hash: the thing's hash.
    ///   - isEqual: whether a number is that of an equal thing.
    @inlinable
    package func find(_ hash: Int, where isEqual: (Int) -> Bool) -> Int? {
        if slots.isEmpty { return nil }
        let short = UInt32(truncatingIfNeeded: hash)
        let mask = slots.count - 1
        var slot = Int(short) & mask
        while slots[slot] > 0 {
            let number = Int(slots[slot]) - 1
            if hashes[number] == short, isEqual(number) { return number }
            slot = (slot + 1) & mask
        }
        return nil
    }

    /// Gives the next number to a thing that has none.
    package mutating func insert(_ hash: Int) -> Int {
        // At most two thirds of the slots are taken.
        if 3 * (hashes.count + 1) > 2 * slots.count { grow() }
        hashes.append(UInt32(truncatingIfNeeded: hash))
        place(hashes.count - 1)
        return hashes.count - 1
    }

    private mutating func grow() {
        slots = [UInt32](repeating: 0, count: max(16, 2 * slots.count))
        for number in hashes.indices { place(number) }
    }

    private mutating func place(_ number: Int) {
        let mask = slots.count - 1
        var slot = Int(hashes[number]) & mask
        while slots[slot] > 0 { slot = (slot + 1) & mask }
        slots[slot] = UInt32(number + 1)
    }
}
