import Streams

/// The choices of one rule in one direction of one connection: the same seed gives the same choices, whatever happens on others.
package struct Chance: Sendable {
    private var state: UInt64

    package init(seed: UInt64, rule: Int, connection: Int, direction: Direction) {
        state = seed
        for part in [rule, connection, direction == .fromClient ? 0 : 1] {
            state = Self.mix(state &+ UInt64(bitPattern: Int64(part)) &* 0xd134_2543_de82_ef95 &+ 1)
        }
    }

    /// The next 64 bits (SplitMix64).
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mix(state)
    }

    /// A number from 0 to below `bound`, which is at least 1.
    package mutating func below(_ bound: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(bound)).high) }

    /// Whether something happens that has this probability.
    package mutating func happens(_ probability: Double) -> Bool {
        Double(next() >> 11) * 0x1p-53 < probability
    }

    /// A length of time from 0 up to `most`.
    mutating func interval(upTo most: Interval) -> Interval {
        most.nanoseconds <= 0
            ? most : Interval(nanoseconds: Int64(below(Int(clamping: min(most.nanoseconds, .max - 1)) + 1)))
    }

    private static func mix(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }
}
