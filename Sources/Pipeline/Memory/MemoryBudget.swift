import Streams

/// Holds memory on account of a `MemoryBudget`.
protocol MemoryHolder: AnyObject {
    /// How many bytes it has accounted for.
    var accountedMemory: Int { get }
    /// Breaks ties between holders of the same size: the connection, and which of its holders it is.
    var memoryRank: (connection: ConnectionLeg, part: Int) { get }

    /// Releases what it holds, and accounts for that.
    func evict(at time: Timestamp)
}

/// A memory limit that many holders share: once it is reached, the largest are evicted.
///
/// Each holder updates its account when its memory has changed, so that nothing has to be summed up per frame. Each eviction
/// frees at least an eighth of the limit, so that finding the largest costs next to nothing per byte.
final class MemoryBudget {
    /// A holder's entry in the account; it takes no slot before it holds anything.
    struct Account {
        // Half as wide as elsewhere: every connection has three of them.
        private var place: Int32 = -1
        private var bytes: UInt32 = 0

        /// How many bytes are accounted for, up to 4 GiB.
        var held: Int { Int(bytes) }

        fileprivate var slot: Int { Int(place) }

        /// Whether its holder is known to the budget.
        fileprivate var isRegistered: Bool { place >= 0 }

        fileprivate mutating func register(in slot: Int) { place = Int32(truncatingIfNeeded: slot) }

        /// Takes the number of bytes held now; returns the increase.
        @inline(__always)
        fileprivate mutating func change(to held: Int) -> Int {
            let before = bytes
            bytes = UInt32(clamping: held)
            return Int(bytes) &- Int(before)
        }

        /// An empty account.
        init() {}
    }

    /// How many bytes all holders together may hold.
    let limit: Int
    /// How many bytes they hold.
    @exclusivity(unchecked) private(set) var held = 0
    /// Whether anything was evicted.
    private(set) var wasReached = false
    /// The number of registered holders.
    var holders: Int { places.count - free.count }

    private var places: [(any MemoryHolder)?] = []
    private var free: [Int] = []
    private var isEvicting = false

    /// A budget of `limit` bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// A holder's memory has changed. Nothing is evicted before `enforce`.
    @inline(__always)
    func update<Holder: MemoryHolder>(_ account: inout Account, of holder: Holder, to held: Int) {
        if !account.isRegistered { register(holder, &account) }
        self.held &+= account.change(to: held)
    }

    @inline(never)
    private func register(_ holder: any MemoryHolder, _ account: inout Account) {
        if let slot = free.popLast() {
            places[slot] = holder
            account.register(in: slot)
        } else {
            account.register(in: places.count)
            places.append(holder)
        }
    }

    /// A holder is done; the memory that it accounted for is free.
    func close(_ account: inout Account) {
        guard account.isRegistered else { return }
        held -= account.held
        places[account.slot] = nil
        free.append(account.slot)
        account = Account()
    }

    /// Forgets all holders, which would otherwise keep one another alive through the budget.
    func forgetAll() { (places, free) = ([], []) }

    /// Evicts the largest holders if the limit is reached.
    @inline(__always)
    func enforce(at time: Timestamp) {
        if held > limit { evict(at: time) }
    }

    @inline(never)
    private func evict(at time: Timestamp) {
        // Evicted bytes may be passed on, and be held again along the way.
        guard !isEvicting else { return }
        isEvicting = true
        wasReached = true
        defer { isEvicting = false }
        let target = limit - limit / 8
        for _ in 0..<4 where held > target {
            let largest = places.compactMap { $0.map { (holder: $0, held: $0.accountedMemory, rank: $0.memoryRank) } }
                .filter { $0.held > 0 }
                .sorted { $0.held != $1.held ? $0.held > $1.held : $0.rank < $1.rank }
            for entry in largest where held > target { entry.holder.evict(at: time) }
        }
    }
}
