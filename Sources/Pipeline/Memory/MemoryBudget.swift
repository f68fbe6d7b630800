import Streams

/// Holds memory on account of a `MemoryBudget`.
protocol MemoryHolder: AnyObject {
    /// How many bytes it has accounted for.
    var accountedMemory: Int { get }
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

        /// Whether its holder is known to the budget.
        fileprivate var isRegistered: Bool { place >= 0 }

        fileprivate mutating func register(in slot: Int) { place = Int32(truncatingIfNeeded: slot) }

        /// Takes what is held now; returns how much more that is.
        @inline(__always)
        fileprivate mutating func change(to held: Int) -> Int {
            let before = bytes
            bytes = UInt32(clamping: held)
            return Int(bytes) &- Int(before)
        }

        /// An account of nothing.
        init() {}
    }

    /// How many bytes all holders together may hold.
    let limit: Int
    /// How many bytes they hold.
    @exclusivity(unchecked) private(set) var held = 0
    /// Whether anything was evicted.
    private(set) var wasReached = false
    /// How many holders take part.
    var holders: Int { places.count - free.count }

    private var places: [(any MemoryHolder)?] = []
    private var free: [Int] = []
    private var isEvicting = false

    /// A budget of `limit` bytes.
    init(limit: Int) {
        self.limit = limit
    }

    /// A holder holds more or less than it did. Nothing is evicted before `enforce`.
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

    /// A holder is over; what it accounted for is free.
    func close(_ account: inout Account) {
        guard account.isRegistered else { return }
        held -= account.held
        places[account.slot] = nil
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
            let largest = places.compactMap { $0.map { (holder: $0, held: $0.accountedMemory, rank: $0.memoryRank) } }
                .filter { $0.held > 0 }
                .sorted { $0.held != $1.held ? $0.held > $1.held : $0.rank < $1.rank }
            for entry in largest where held > target { entry.holder.evict(at: time) }
        }
    }
}
