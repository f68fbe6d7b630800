/// Names of types, findings and actions as numbers. It is bounded: what is named beyond that is `other`.
struct NameTable: Sendable {
    private var numbers: [String: UInt32] = ["": 0]
    /// The names by their numbers; the first one is that of nothing.
    private(set) var names = [""]

    /// At most how many names there are.
    static let most = 65_536
    /// The name of what has none of its own any more.
    static let other = "…"

    /// The number of a name.
    mutating func number(of name: String?) -> UInt32 {
        guard let name else { return 0 }
        if let known = numbers[name] { return known }
        let shown = names.count >= Self.most ? Self.other : String(name.prefix(256))
        if let known = numbers[shown] { return known }
        let number = UInt32(names.count)
        numbers[shown] = number
        names.append(shown)
        return number
    }
}
