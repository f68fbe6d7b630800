/// The numbers of the connections of a listener: of very many, the last ones.
struct ConnectionNumbers: Sendable {
    private(set) var all: Set<Int> = []

    /// At least so many are known.
    static let most = 65_536

    /// Adds one. Later connections have higher numbers.
    mutating func insert(_ number: Int) {
        all.insert(number)
        if all.count >= 2 * Self.most { all = Set(all.sorted().suffix(Self.most)) }
    }
}
