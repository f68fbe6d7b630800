/// Random numbers that are the same on every machine and in every version of Swift (xorshift64*, Vigna 2016).
struct Dice {
    private var state: UInt64

    /// - Parameter seed: anything but 0, at which it would stay.
    init(seed: UInt64) {
        state = seed
    }

    /// A number from 0 up to a bound.
    mutating func roll(_ bound: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int((state &* 0x2545_f491_4f6c_dd1d) >> 33) % bound
    }
}
