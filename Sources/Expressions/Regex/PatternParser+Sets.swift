extension PatternParser {
    /// The element that begins with the backslash here.
    mutating func escape() throws(Fault) -> PatternTree {
        switch peek(1) {
        case "b":
            position += 2
            return .assertion(.wordBoundary)
        case "B":
            position += 2
            return .assertion(.noWordBoundary)
        case "A":
            position += 2
            return .assertion(.textStart)
        case "z":
            position += 2
            return .assertion(.textEnd)
        case let letter?:
            guard let ranges = ScalarSet.named(letter) else { return literal(try escapedScalar()) }
            position += 2
            var set = ScalarSet()
            set.insert(ranges)
            set.finish()
            return .set(set)
        case nil:
            return literal(try escapedScalar())
        }
    }

    /// The scalar that the escape here represents.
    private mutating func escapedScalar() throws(Fault) -> UInt32 {
        let start = position
        guard let letter = peek(1) else { throw fault(start, "nothing follows this backslash") }
        position += 2
        switch letter {
        case "n": return 0x0a
        case "r": return 0x0d
        case "t": return 0x09
        case "f": return 0x0c
        case "v": return 0x0b
        case "0": return 0
        case "x", "u": return try numberedScalar(start, letter)
        case "1"..."9": throw fault(start, "back references are not supported: they cannot be matched in linear time")
        case "p", "P": throw fault(start, "Unicode properties are not supported")
        case _ where letter.isASCII && !letter.continuesName && letter.isShown: return letter.value
        default: throw fault(start, "\(describeFound(scalars[start..<position])) is no escape")
        }
    }

    /// `\x41`, `\x{5fc3}` or `\u{5fc3}`, after the letter.
    private mutating func numberedScalar(_ start: Int, _ letter: Unicode.Scalar) throws(Fault) -> UInt32 {
        let rest = scalars[position...]
        if rest.first == "{" {
            if let close = rest.firstIndex(of: "}"),
                let scalar = hexadecimal(scalars[(position + 1)..<close]).flatMap(Unicode.Scalar.init)
            {
                position = close + 1
                return scalar.value
            }
        } else if letter == "x", rest.count >= 2, let value = hexadecimal(rest.prefix(2)) {
            position += 2
            return value
        }
        throw fault(start, "expected a character's number after `\\\(letter)`: `\\x41` or `\\\(letter){5fc3}`")
    }

    /// The set in brackets that begins here.
    mutating func set() throws(Fault) -> ScalarSet {
        let start = position
        var set = ScalarSet()
        position += 1
        if peek() == "^" {
            set.isNegated = true
            position += 1
        }
        let first = position
        while peek() != "]" || position == first {
            guard peek() != nil else { throw fault(start, "the set that begins here has no `]`") }
            try member(of: &set)
        }
        position += 1
        set.ignoresCase = flags.ignoresCase
        set.finish()
        return set
    }

    private mutating func member(of set: inout ScalarSet) throws(Fault) {
        let start = position
        if peek() == "[", peek(1) == ":" { throw fault(start, "POSIX classes are not supported") }
        if peek() == "\\", let ranges = peek(1).flatMap(ScalarSet.named) {
            position += 2
            set.insert(ranges)
            guard peek() != "-" || peek(1) == "]" else { throw fault(start, "a range cannot begin with a class") }
            return
        }
        let low = try memberScalar()
        guard peek() == "-", let next = peek(1), next != "]" else {
            set.insert(low...low)
            return
        }
        position += 1
        if peek() == "\\", let letter = peek(1), ScalarSet.named(letter) != nil {
            throw fault(position, "a range cannot end with a class")
        }
        let high = try memberScalar()
        guard low <= high else { throw fault(start, "the range ends before it begins") }
        set.insert(low...high)
    }

    private mutating func memberScalar() throws(Fault) -> UInt32 {
        guard peek() == "\\" else {
            position += 1
            return scalars[position - 1].value
        }
        return try escapedScalar()
    }
}
