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
        var wanted = held - target
        while held > target {
            let before = held
            for holder in largest(withAtLeast: wanted) where held > target { holder.evict(at: time) }
            if held < before {
                wanted = held - target
            } else {
                // What is held again may be as much as was evicted: then all the others are tried, too.
                guard wanted < Int.max else { break }
                wanted = .max
            }
        }
    }

    /// The largest holders, the largest first, as many as hold a number of bytes together.
    private func largest(withAtLeast byteCount: Int) -> [any MemoryHolder] {
        // There may be a million of them, and most are not needed: a size and a slot are a number.
        var sizes: [UInt64] = []
        sizes.reserveCapacity(holders)
        for (slot, holder) in places.enumerated() {
            guard let held = holder?.accountedMemory, held > 0 else { continue }
            sizes.append(UInt64(held) << 32 | UInt64(slot))
        }
        sizes.sort(by: >)
        var (count, sum) = (0, 0)
        while count < sizes.count, sum < byteCount {
            sum += Int(sizes[count] >> 32)
            count += 1
        }
        guard count > 0 else { return [] }
        // Of those as large as the last of them, the ones with the lowest ranks.
        let least = sizes[count - 1] >> 32
        let larger = sizes[..<count].prefix { $0 >> 32 > least }
        let tied = sizes[larger.endIndex...].prefix { $0 >> 32 == least }
        return inOrder(larger, larger.count) + inOrder(tied, count - larger.count)
    }

    /// The first holders by size and rank.
    ///
    /// - Parameters:
    ///   - sizes: their sizes and slots.
    ///   - count: how many of them.
    private func inOrder(_ sizes: ArraySlice<UInt64>, _ count: Int) -> [any MemoryHolder] {
        var first: [(size: UInt64, rank: (ConnectionLeg, Int), holder: any MemoryHolder)] = []
        func sort() {
            first.sort { $0.size != $1.size ? $0.size > $1.size : $0.rank < $1.rank }
            first.removeLast(max(0, first.count - count))
        }
        for size in sizes {
            if first.count >= 2 * count { sort() }
            guard let holder = places[Int(size & 0xffff_ffff)] else { continue }
            first.append((size >> 32, holder.memoryRank, holder))
        }
        sort()
        return first.map(\.holder)
    }
}
