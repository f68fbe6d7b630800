import Streams
import TestSupport
import Testing

@testable import Pipeline

/// Which holders are evicted, and in which order.
@Suite struct MemoryBudgetTests {
    private final class Holder: MemoryHolder {
        let memoryRank: (connection: ConnectionLeg, part: Int)
        /// How much is held again after an eviction.
        let rest: Int
        var account = MemoryBudget.Account()
        let budget: MemoryBudget
        let evicted: (Holder) -> Void

        init(_ rank: (ConnectionLeg, Int), rest: Int, _ budget: MemoryBudget, evicted: @escaping (Holder) -> Void) {
            (memoryRank, self.rest, self.budget, self.evicted) = (rank, rest, budget, evicted)
        }

        var accountedMemory: Int { account.held }

        func hold(_ byteCount: Int) { budget.update(&account, of: self, to: byteCount) }

        func evict(at time: Timestamp) {
            evicted(self)
            hold(min(rest, account.held))
        }
    }

    private let zero = Timestamp(nanoseconds: 0)

    /// The largest, and of those of the same size the first ones, until an eighth is free.
    @Test func theLargestAreEvictedInOrder() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let count = Int.random(in: 1...60, using: &generator)
            var held = (0..<count).map { _ in Int.random(in: 0...6, using: &generator) * 10 }
            held[0] += 1
            let sum = held.reduce(0, +)
            // The limit is just exceeded, or by far.
            let budget = MemoryBudget(limit: Bool.random(using: &generator) ? sum - 1 : sum / 3)
            var order: [String] = []
            var ranks = (0..<count).map { (ConnectionLeg($0 / 2 + 1, $0 % 3 == 0 ? .out : nil), $0 % 2) }
            ranks.shuffle(using: &generator)
            let holders = zip(ranks, held).map { rank, held in
                let holder = Holder(rank, rest: 0, budget) { order.append("\($0.memoryRank) \($0.accountedMemory)") }
                holder.hold(held)
                return holder
            }
            // Slots that are free are passed over.
            for holder in holders where Int.random(in: 0..<10, using: &generator) == 0 {
                budget.close(&holder.account)
            }
            let target = budget.limit - budget.limit / 8
            var left = budget.held
            var expected: [String] = []
            let isReached = left > budget.limit
            let sorted = holders.filter { $0.accountedMemory > 0 }.sorted {
                ($1.accountedMemory, $0.memoryRank.connection, $0.memoryRank.part)
                    < ($0.accountedMemory, $1.memoryRank.connection, $1.memoryRank.part)
            }
            for holder in sorted where isReached && left > target {
                expected.append("\(holder.memoryRank) \(holder.accountedMemory)")
                left -= holder.accountedMemory
            }
            budget.enforce(at: zero)
            #expect(order == expected, "seed \(seed)")
            #expect(budget.held == left && budget.wasReached == isReached, "seed \(seed)")
            for holder in holders { budget.close(&holder.account) }
            #expect(budget.held == 0 && budget.holders == 0)
        }
    }

    /// What is held again is evicted again, as long as that helps.
    @Test func whatIsHeldAgainIsEvictedAgain() {
        let budget = MemoryBudget(limit: 800)
        var evictions = 0
        let holders = (1...10).map { number in
            let holder = Holder((ConnectionLeg(number), 0), rest: 90, budget) { _ in evictions += 1 }
            holder.hold(100)
            return holder
        }
        budget.enforce(at: zero)
        // Each holds 90 again, which is as little as it can hold: no more can be freed.
        #expect(evictions >= 10)
        #expect(budget.held == 900)
        for holder in holders { budget.close(&holder.account) }
    }

    /// One that frees nothing does not keep others from being evicted.
    @Test func theOthersAreTried() {
        let budget = MemoryBudget(limit: 800)
        let large = Holder((ConnectionLeg(1), 0), rest: 500, budget) { _ in }
        large.hold(500)
        let small = (2...5).map { number in
            let holder = Holder((ConnectionLeg(number), 0), rest: 0, budget) { _ in }
            holder.hold(100)
            return holder
        }
        budget.enforce(at: zero)
        #expect(budget.held == 700)
        #expect(small.map(\.account.held) == [0, 0, 100, 100])
        for holder in small + [large] { budget.close(&holder.account) }
    }
}
