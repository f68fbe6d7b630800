import Streams

/// Whoever holds memory on account of a `MemoryBudget`.
protocol MemoryHolder: AnyObject {
    /// Decides between holders of the same size: the connection's number, and which of its holders it is.
    var memoryRank: (connection: Int, part: Int) { get }

    /// Gives up what is held, and accounts for that.
    func evict(at time: Timestamp)
}

/// A limit of memory that many holders share: once it is reached, the largest are evicted.
///
/// Each holder accounts for what it holds when that has changed, so that nothing is summed up on the way of a frame. What is
/// evicted at once is an eighth of the limit or more, so that looking for the largest costs next to nothing for each byte.
final class MemoryBudget {
    /// A holder's place in the account; it takes none before it holds anything.
    struct Account {
        // Half as wide as elsewhere: of every connection there are three.
        private var place: Int32 = -1
        private var bytes: UInt32 = 0

        /// How many bytes are accounted for, up to 4 GiB.
        var held: Int { Int(bytes) }

        fileprivate var slot: Int { Int(place) }

        fileprivate init(slot: Int, held: Int) {
            (place, bytes) = (Int32(truncatingIfNeeded: slot), UInt32(clamping: held))
        }

        /// An account of nothing.
        init() {}
    }

    private struct Entry {
        var holder: (any MemoryHolder)?
        var held = 0
    }

    /// How many bytes all holders together may hold.
    let limit: Int
    /// How many bytes they hold.
    private(set) var held = 0
    /// Whether anything was evicted.
    private(set) var wasReached = false
    /// How many holders take part.
    var holders: Int { entries.count - free.count }

    private var entries: [Entry] = []
    private var free: [Int] = []
    private var isEvicting = false

    /// A budget of `limit` bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// A holder holds more or less than it did. Nobody is evicted before `enforce`.
    func update(_ account: inout Account, of holder: any MemoryHolder, to held: Int) {
        var slot = account.slot
        if slot < 0 {
            if let known = free.popLast() {
                slot = known
            } else {
                slot = entries.count
                entries.append(Entry())
            }
            entries[slot].holder = holder
        }
        account = Account(slot: slot, held: held)
        self.held += account.held - entries[slot].held
        entries[slot].held = account.held
    }

    /// A holder is over; what it accounted for is free.
    func close(_ account: inout Account) {
        guard account.slot >= 0 else { return }
        held -= entries[account.slot].held
        entries[account.slot] = Entry()
        free.append(account.slot)
        account = Account()
    }

    /// Evicts the largest holders, where the limit is reached.
    @inline(__always)
    func enforce(at time: Timestamp) {
        if held > limit { evict(at: time) }
    }

    @inline(never)
    private func evict(at time: Timestamp) {
        // What is evicted may be passed on, and be held again on the way.
        guard !isEvicting else { return }
        isEvicting = true
        wasReached = true
        defer { isEvicting = false }
        let target = limit - limit / 8
        for _ in 0..<4 where held > target {
            let largest = entries.filter { $0.held > 0 && $0.holder != nil }.sorted {
                if $0.held != $1.held { return $0.held > $1.held }
                guard let left = $0.holder?.memoryRank, let right = $1.holder?.memoryRank else { return false }
                return left < right
            }
            for entry in largest where held > target { entry.holder?.evict(at: time) }
        }
    }
}
