/// Splits an expression into tokens, one at a time.
struct Lexer {
    let scalars: [Unicode.Scalar]
    private var position = 0

    init(_ text: String) {
        scalars = Array(text.unicodeScalars)
    }

    /// The next token; `end` forever at the end.
    mutating func next() throws(Fault) -> Token {
        while let scalar = peek(), scalar.properties.isWhitespace { position += 1 }
        let start = position
        guard let scalar = peek() else { return Token(kind: .end, range: start..<start) }
        let kind: Token.Kind
        switch scalar {
        case "\"", "'":
            try skipString()
            kind = .string
        case "x" where peek(1) == "\"" || peek(1) == "'":
            position += 1
            kind = try .bytes(bytes())
        case "0"..."9":
            kind = try .number(number())
        case _ where scalar.startsName:
            kind = try .path(path())
        default:
            kind = try .symbol(symbol())
        }
        return Token(kind: kind, range: start..<position)
    }

    private func describeHere() -> String {
        describeFound(scalars[position..<min(position + 1, scalars.count)])
    }

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        position + distance < scalars.count ? scalars[position + distance] : nil
    }

    private mutating func take(while condition: (Unicode.Scalar) -> Bool) -> Range<Int> {
        let start = position
        while let scalar = peek(), condition(scalar) { position += 1 }
        return start..<position
    }

    private mutating func symbol() throws(Fault) -> String {
        let pair = text(position..<min(position + 2, scalars.count))
        if ["==", "!=", "<=", ">=", "&&", "||", ".."].contains(pair) {
            position += 2
            return pair
        }
        let single = text(position..<position + 1)
        guard "=<>!(){},+-*/%&~".contains(single) else {
            let found = describe(position..<position + 1)
            throw single == "|"
                ? Fault(position, expected: "`||`", found: found)
                : Fault(position, expected: "an expression", found: found)
        }
        position += 1
        return single
    }

    // MARK: Paths

    private mutating func path() throws(Fault) -> [String] {
        var names = [text(take { $0.continuesName })]
        while true {
            if peek() == ".", peek(1) != "." {
                position += 1
                let name = take { $0.continuesName }
                guard !name.isEmpty else {
                    throw Fault(position, expected: "a name after `.`", found: describeHere())
                }
                names.append(text(name))
            } else if peek() == "[" {
                position += 1
                names.append(try subscriptName())
            } else {
                return names
            }
        }
    }

    private mutating func subscriptName() throws(Fault) -> String {
        let name: String
        switch peek() {
        case "\"", "'":
            let start = position
            try skipString()
            name = try decode(start..<position)
        default:
            let digits = take { $0.isDigit }
            if digits.isEmpty {
                name = try selector()
            } else {
                name = text(digits)
            }
        }
        guard peek() == "]" else { throw Fault(position, expected: "`]`", found: describeHere()) }
        position += 1
        return name
    }

    /// `tag=108` or `name="a b"`: the element of a list whose member has this value.
    private mutating func selector() throws(Fault) -> String {
        let name = take { $0.continuesName }
        guard !name.isEmpty else {
            throw Fault(
                position, expected: "an index, a name in quotes, or name=value", found: describeHere())
        }
        guard peek() == "=" else { throw Fault(position, expected: "`=`", found: describeHere()) }
        position += 1
        if peek() == "\"" || peek() == "'" {
            let start = position
            try skipString()
            return text(name) + "=" + (try decode(start..<position))
        }
        let value = take { $0.continuesName }
        guard !value.isEmpty else { throw Fault(position, expected: "a value", found: describeHere()) }
        return text(name) + "=" + text(value)
    }

    // MARK: Numbers

    private mutating func number() throws(Fault) -> Value {
        let start = position
        var isHexadecimal = false
        var isWhole = true
        if peek() == "0", peek(1) == "x" {
            position += 2
            isHexadecimal = true
            guard !take(while: { $0.hexadecimal != nil }).isEmpty else {
                throw Fault(position, expected: "hexadecimal digits after `0x`", found: describeHere())
            }
        } else {
            _ = take { $0.isDigit }
            if peek() == ".", peek(1)?.isDigit == true {
                isWhole = false
                position += 1
                _ = take { $0.isDigit }
            }
            if peek() == "e" || peek() == "E" {
                let sign = peek(1) == "+" || peek(1) == "-"
                if peek(sign ? 2 : 1)?.isDigit == true {
                    isWhole = false
                    position += sign ? 2 : 1
                    _ = take { $0.isDigit }
                }
            }
        }
        if let scalar = peek(), scalar.continuesName {
            let rest = take { $0.continuesName }
            throw Fault(rest.lowerBound, expected: "an operator after the number", found: describe(rest))
        }
        let spelling = text(start..<position)
        if isWhole {
            let digits = isHexadecimal ? spelling.dropFirst(2) : spelling[...]
            if let integer = UInt64(digits, radix: isHexadecimal ? 16 : 10) {
                return Int64(exactly: integer).map(Value.integer) ?? .unsigned(integer)
            }
            throw Fault(start, "the number \(describe(start..<position)) does not fit 64 bits")
        }
        guard let real = Double(spelling), real.isFinite else {
            throw Fault(start, "the number \(describe(start..<position)) is too large")
        }
        return .number(real)
    }

    // MARK: Strings

    /// Moves past the closing quote of the string that begins here.
    private mutating func skipString() throws(Fault) {
        let start = position
        let quote = peek()
        position += 1
        while let scalar = peek(), scalar != quote { position += scalar == "\\" ? 2 : 1 }
        guard position < scalars.count else {
            position = scalars.count
            throw Fault(start, "the string that begins here has no closing quote")
        }
        position += 1
    }

    /// The bytes of `x"ff d8"`: pairs of hexadecimal digits, optionally separated by spaces, colons or hyphens.
    private mutating func bytes() throws(Fault) -> [UInt8] {
        let start = position
        try skipString()
        var bytes: [UInt8] = []
        var high: UInt32?
        for offset in start + 1..<position - 1 {
            let scalar = scalars[offset]
            if let digit = scalar.hexadecimal {
                if let first = high { bytes.append(UInt8(first << 4 | digit)) }
                high = high == nil ? digit : nil
            } else if high != nil || ![" ", ":", "-"].contains(scalar) {
                throw Fault(offset, expected: "a hexadecimal digit", found: describe(offset..<offset + 1))
            }
        }
        guard high == nil else {
            throw Fault(position - 1, expected: "a hexadecimal digit", found: describe(position - 1..<position))
        }
        return bytes
    }
}
