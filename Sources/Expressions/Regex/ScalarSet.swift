/// A set of Unicode scalars: `[a-z]`, `\d`, `.`.
struct ScalarSet: Sendable {
    private(set) var ranges: [ClosedRange<UInt32>] = []
    /// Whether a scalar is in the set if its other case is: `(?i)`.
    var ignoresCase = false
    var isNegated = false
    private var ascii: (UInt64, UInt64) = (0, 0)

    mutating func insert(_ range: ClosedRange<UInt32>) {
        ranges.append(range)
    }

    mutating func insert(_ other: [ClosedRange<UInt32>]) {
        ranges += other
    }

    /// The complement of some ranges.
    static func complement(of ranges: [ClosedRange<UInt32>]) -> [ClosedRange<UInt32>] {
        var gaps: [ClosedRange<UInt32>] = []
        var next: UInt32 = 0
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if range.lowerBound > next { gaps.append(next...range.lowerBound - 1) }
            next = max(next, range.upperBound + 1)
        }
        if next <= 0x10_ffff { gaps.append(next...0x10_ffff) }
        return gaps
    }

    /// Sorts and joins the ranges, and precomputes ASCII.
    mutating func finish() {
        ranges = ScalarSet.complement(of: ScalarSet.complement(of: ranges))
        for value in UInt32(0)..<128 where lookUp(value) {
            if value < 64 { ascii.0 |= 1 << value } else { ascii.1 |= 1 << (value - 64) }
        }
    }

    func contains(_ value: UInt32) -> Bool {
        if value < 64 { return ascii.0 >> value & 1 == 1 }
        if value < 128 { return ascii.1 >> (value - 64) & 1 == 1 }
        return lookUp(value)
    }

    private func lookUp(_ value: UInt32) -> Bool {
        var isThere = isInRange(value)
        if !isThere, ignoresCase { isThere = ScalarSet.otherCases(of: value).contains(where: isInRange) }
        return isThere != isNegated
    }

    private func isInRange(_ value: UInt32) -> Bool {
        var low = 0
        var high = ranges.count
        while low < high {
            let middle = (low + high) / 2
            if ranges[middle].upperBound < value { low = middle + 1 } else { high = middle }
        }
        return low < ranges.count && ranges[low].contains(value)
    }

    /// The upper and lower case of a scalar, if they are one scalar each.
    static func otherCases(of value: UInt32) -> [UInt32] {
        guard let scalar = Unicode.Scalar(value) else { return [] }
        let properties = scalar.properties
        guard properties.isCased else { return [] }
        let cases = [properties.lowercaseMapping, properties.uppercaseMapping].map(\.unicodeScalars)
        return cases.compactMap { $0.count == 1 ? $0.first?.value : nil }.filter { $0 != value }
    }
}

extension ScalarSet {
    static let digits: [ClosedRange<UInt32>] = [0x30...0x39]
    static let word: [ClosedRange<UInt32>] = [0x30...0x39, 0x41...0x5a, 0x5f...0x5f, 0x61...0x7a]
    /// As RE2 has it: tab, line feed, form feed, carriage return, space; not the vertical tab.
    static let space: [ClosedRange<UInt32>] = [0x09...0x0a, 0x0c...0x0d, 0x20...0x20]

    /// The set of `\d`, `\D`, `\w`, `\W`, `\s`, `\S`, by its letter.
    static func named(_ letter: Unicode.Scalar) -> [ClosedRange<UInt32>]? {
        switch letter {
        case "d": digits
        case "D": complement(of: digits)
        case "w": word
        case "W": complement(of: word)
        case "s": space
        case "S": complement(of: space)
        default: nil
        }
    }

    static func isWord(_ value: UInt32) -> Bool {
        word.contains { $0.contains(value) }
    }
}
