/// Names of types, findings and actions as numbers. It is bounded: long names are cut, and further
/// ones are `other`.
struct NameTable: Sendable {
    private var numbers: [String: UInt32] = [:]
    /// The names by their numbers; the first one stands for no name.
    private(set) var names = [""]

    /// At most how many names there are.
    static let most = 65_536
    /// At most how many characters of a name are kept.
    private static let longest = 256
    /// The name of what has none of its own any more.
    static let other = "…"

    /// The number of a name.
    mutating func number(of name: String?) -> UInt32 {
        guard let name else { return 0 }
        if let known = numbers[name] { return known }
        let shown = names.count >= Self.most ? Self.other : String(name.prefix(Self.longest))
        if let known = numbers[shown] { return known }
        let number = UInt32(names.count)
        numbers[shown] = number
        names.append(shown)
        return number
    }

    /// Whether a name of the table may stand for other ones.
    static func isInexact(_ name: String) -> Bool {
        name == other || name.utf8.count >= longest && name.count >= longest
    }
}
