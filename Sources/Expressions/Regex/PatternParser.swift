/// Reads a pattern by recursive descent.
struct PatternParser {
    let scalars: [Unicode.Scalar]
    var position = 0
    var flags = Flags()
    /// Where the pattern begins in the text that errors refer to.
    let origin: Int
    private var nesting = 0

    /// What `(?ims)` switches on.
    struct Flags {
        var ignoresCase = false
        var isMultiline = false
        var dotTakesLineFeed = false
    }

    /// How deeply groups may nest.
    static let nestingLimit = 32
    /// The largest count of `{m,n}`.
    static let countLimit = 1000

    init(_ scalars: [Unicode.Scalar], at origin: Int) {
        self.scalars = scalars
        self.origin = origin
    }

    /// Reads the whole pattern.
    mutating func parse() throws(Fault) -> PatternTree {
        let tree = try alternatives()
        guard position == scalars.count else { throw fault(position, "this `)` closes no group") }
        return tree
    }

    // MARK: Structure

    private mutating func alternatives() throws(Fault) -> PatternTree {
        var branches = [try sequence()]
        while peek() == "|" {
            position += 1
            branches.append(try sequence())
        }
        return branches.count == 1 ? branches[0] : .alternatives(branches)
    }

    private mutating func sequence() throws(Fault) -> PatternTree {
        var items: [PatternTree] = []
        while let scalar = peek(), scalar != "|", scalar != ")" {
            if try startsCount() { throw fault(position, "there is nothing before \(describe()) to repeat") }
            guard let item = try item() else { continue }
            items.append(try counted(item))
        }
        return items.count == 1 ? items[0] : .sequence(items)
    }

    /// One element, without its count; nil for `(?i)`, which is not one.
    private mutating func item() throws(Fault) -> PatternTree? {
        let scalar = scalars[position]
        switch scalar {
        case "(": return try group()
        case "[": return .set(try set())
        case "\\": return try escape()
        case ".":
            position += 1
            var set = ScalarSet()
            if !flags.dotTakesLineFeed { set.insert(0x0a...0x0a) }
            set.isNegated = true
            set.finish()
            return .set(set)
        case "^":
            position += 1
            return .assertion(flags.isMultiline ? .lineStart : .textStart)
        case "$":
            position += 1
            return .assertion(flags.isMultiline ? .lineEnd : .textEnd)
        default:
            position += 1
            return literal(scalar.value)
        }
    }

    func literal(_ value: UInt32) -> PatternTree {
        guard flags.ignoresCase, !ScalarSet.otherCases(of: value).isEmpty else { return .scalar(value) }
        var set = ScalarSet()
        set.ignoresCase = true
        set.insert(value...value)
        ScalarSet.otherCases(of: value).forEach { set.insert($0...$0) }
        set.finish()
        return .set(set)
    }

    // MARK: Groups

    private mutating func group() throws(Fault) -> PatternTree? {
        let start = position
        let outer = flags
        position += 1
        if peek() == "?" {
            position += 1
            guard try groupKind(start) else { return nil }
        }
        guard nesting < PatternParser.nestingLimit else {
            throw fault(start, "groups are nested more than \(PatternParser.nestingLimit) deep")
        }
        nesting += 1
        let tree = try alternatives()
        nesting -= 1
        guard peek() == ")" else { throw fault(start, "the group that begins here has no `)`") }
        position += 1
        flags = outer
        return tree
    }

    /// Reads what follows `(?`. False if that was all: flags for the rest of the enclosing group.
    private mutating func groupKind(_ start: Int) throws(Fault) -> Bool {
        let isNamed = peek() == "P" && peek(1) == "<"
        if peek() == "=" || peek() == "!" || peek() == "<" && (peek(1) == "=" || peek(1) == "!") {
            throw fault(start, "lookaround is not supported: it cannot be matched in linear time")
        }
        if peek() == ">" { throw fault(start, "atomic groups are not supported") }
        if isNamed || peek() == "<" {
            position += isNamed ? 2 : 1
            let name = position
            while let scalar = peek(), scalar.continuesName { position += 1 }
            guard position > name, peek() == ">" else { throw expected("a group's name and `>`") }
            position += 1
            return true
        }
        var value = true
        while let scalar = peek() {
            switch scalar {
            case "i": flags.ignoresCase = value
            case "m": flags.isMultiline = value
            case "s": flags.dotTakesLineFeed = value
            case "-" where value: value = false
            case ":", ")":
                position += 1
                return scalar == ":"
            default: throw expected("`:`, `i`, `m`, `s` or `P<name>` after `(?`")
            }
            position += 1
        }
        throw expected("`:`, `i`, `m`, `s` or `P<name>` after `(?`")
    }

    // MARK: Counts

    private func startsCount() throws(Fault) -> Bool {
        switch peek() {
        case "*", "+", "?": true
        case "{": try count() != nil
        default: false
        }
    }

    private mutating func counted(_ item: PatternTree) throws(Fault) -> PatternTree {
        let start = position
        var least = 0
        var most: Int?
        switch peek() {
        case "*": position += 1
        case "+": (least, position) = (1, position + 1)
        case "?": (most, position) = (1, position + 1)
        case "{":
            guard let count = try count() else { return item }
            (least, most, position) = count
        default: return item
        }
        if peek() == "?" { position += 1 }
        if peek() == "+" { throw fault(position, "possessive counts are not supported") }
        if try startsCount() { throw fault(position, "a count cannot follow a count") }
        return .repeated(item, least: least, most: most, offset: origin + start)
    }

    /// The count `{m}`, `{m,}` or `{m,n}` that begins here and where it ends; nil if this `{` is a literal one.
    private func count() throws(Fault) -> (least: Int, most: Int?, end: Int)? {
        var end = position + 1
        func digits() -> Range<Int> {
            let start = end
            while end < scalars.count, scalars[end].isDigit { end += 1 }
            return start..<end
        }
        let least = digits()
        var most: Range<Int>? = least
        if !least.isEmpty, end < scalars.count, scalars[end] == "," {
            end += 1
            most = digits()
            if most?.isEmpty == true { most = nil }
        }
        guard !least.isEmpty, end < scalars.count, scalars[end] == "}" else { return nil }
        let low = try value(least)
        var high: Int?
        if let most { high = try value(most) }
        if let high, high < low { throw fault(position, "the count's upper limit is below its lower one") }
        return (low, high, end + 1)
    }

    private func value(_ digits: Range<Int>) throws(Fault) -> Int {
        var value = 0
        for scalar in scalars[digits] {
            value = value * 10 + Int(scalar.value - 0x30)
            guard value <= PatternParser.countLimit else {
                throw fault(digits.lowerBound, "counts go up to \(PatternParser.countLimit)")
            }
        }
        return value
    }

    // MARK: Reading

    func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    func fault(_ offset: Int, _ message: String) -> Fault {
        Fault(origin + offset, message)
    }

    func expected(_ what: String) -> Fault {
        Fault(origin + position, expected: what, found: describe())
    }

    private func describe() -> String {
        position < scalars.count ? describeFound(scalars[position..<position + 1]) : "the end of the pattern"
    }
}
