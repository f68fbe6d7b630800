/// The common part of texts that differ in each run, and their variable parts: `{"token": "«uuid»", "user": "bob"}`.
///
/// It matches whole texts. A `«` that does not begin a placeholder represents itself; `««»` represents one that does.
package struct TextTemplate: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        case any(Placeholder)
    }

    let parts: [Part]

    init(parts: [Part]) { self.parts = parts }

    /// Parses a template in the form of `source`; nil if it has no placeholder.
    package init?(_ source: String) {
        var parts: [Part] = []
        var literal = ""
        var rest = source[...]
        while let open = rest.firstIndex(of: "«") {
            literal += rest[..<open]
            let inside = rest[rest.index(after: open)...]
            if inside.hasPrefix(Self.escaped) {
                literal.append("«")
                rest = inside.dropFirst(Self.escaped.count)
            } else if let close = inside.firstIndex(of: "»"), let placeholder = Placeholder(inside[..<close]) {
                if !literal.isEmpty { parts.append(.literal(Array(literal.utf8))) }
                parts.append(.any(placeholder))
                literal = ""
                rest = inside[inside.index(after: close)...]
            } else {
                literal.append("«")
                rest = inside
            }
        }
        literal += rest
        if !literal.isEmpty { parts.append(.literal(Array(literal.utf8))) }
        guard parts.contains(where: { if case .any = $0 { true } else { false } }) else { return nil }
        self.parts = parts
    }

    /// The template as text.
    package var source: String {
        parts.map { part in
            switch part {
            case .literal(let bytes): Self.escaping(String(decoding: bytes, as: UTF8.self))
            case .any(let placeholder): placeholder.description
            }
        }.joined()
    }

    /// What follows the `«` of one that represents itself.
    private static let escaped = "«»"

    /// A literal as `source` has it.
    private static func escaping(_ literal: String) -> String {
        var source = ""
        var rest = literal[...]
        while let open = rest.firstIndex(of: "«") {
            let inside = rest[rest.index(after: open)...]
            let isPlaceholder = inside.firstIndex(of: "»").map { Placeholder(inside[..<$0]) != nil } ?? false
            source += rest[...open]
            if isPlaceholder || inside.hasPrefix(escaped) { source += escaped }
            rest = inside
        }
        return source + rest
    }

    /// Whether no part of it is fixed.
    var isWhole: Bool {
        parts.count == 1 && !parts.contains { if case .literal = $0 { true } else { false } }
    }

    /// Whether texts of several lengths fit.
    var isElastic: Bool {
        parts.contains { part in
            if case .any(let placeholder) = part {
                placeholder.kind == .number || placeholder.least != placeholder.most
            } else {
                false
            }
        }
    }

    /// How many bytes of a text are looked at until it counts as one that does not match, in addition to `looks` looks at all of
    /// them, and as how many bytes a step counts.
    private static let budget = 4_000_000
    private static let looks = 8
    private static let step = 400

    /// A text with each variable part replaced by the name of its kind, and how many bytes these have; nil if the text does not
    /// match.
    func masking(_ text: String) -> (text: String, masked: Int)? {
        let bytes = Array(text.utf8)
        var budget = Self.budget + Self.looks * bytes.count
        guard let lengths = match(parts[...], bytes[...], &budget) else { return nil }
        var masked = ""
        var (at, count) = (0, 0)
        for (part, length) in zip(parts, lengths) {
            switch part {
            case .literal(let literal): masked += String(decoding: literal, as: UTF8.self)
            case .any(let placeholder):
                masked += Self.shape(placeholder, bytes[at..<at + length])
                count += length
            }
            at += length
        }
        return (masked, count)
    }

    /// What is left of a masked part: its kind; for dates and times, their format.
    private static func shape(_ placeholder: Placeholder, _ bytes: ArraySlice<UInt8>) -> String {
        guard placeholder.kind == .datetime || placeholder.kind == .time else {
            return "«\(placeholder.kind.rawValue)»"
        }
        var shape = ""
        var wasDigit = false
        for byte in bytes {
            let isDigit = TextShapes.isDigit(byte)
            if TextShapes.isLetter(byte) {
                if shape.last != "a" { shape += "a" }
            } else if !isDigit {
                if !(byte == 0x20 && shape.last == " ") { shape.unicodeScalars.append(Unicode.Scalar(byte)) }
            } else if !wasDigit {
                shape += "0"
            }
            wasDigit = isDigit
        }
        return "«\(placeholder.kind.rawValue) \(shape)»"
    }

    /// The length of each part; the budget stops what would take too long.
    private func match(_ parts: ArraySlice<Part>, _ text: ArraySlice<UInt8>, _ budget: inout Int) -> [Int]? {
        budget -= Self.step
        guard budget > 0 else { return nil }
        guard let part = parts.first else { return text.isEmpty ? [] : nil }
        switch part {
        case .literal(let literal):
            guard text.starts(with: literal) else { return nil }
            return match(parts.dropFirst(), text.dropFirst(literal.count), &budget).map { [literal.count] + $0 }
        case .any(let placeholder):
            var lengths = placeholder.lengths(in: text, &budget)
            while let length = lengths.next(&budget) {
                if let rest = match(parts.dropFirst(), text.dropFirst(length), &budget) { return [length] + rest }
            }
            return nil
        }
    }

    /// How general it is: of two templates that match, the more general one wins.
    var generality: [Int] {
        let kinds = Placeholder.Kind.allCases
        return parts.compactMap { part in
            if case .any(let placeholder) = part { kinds.firstIndex(of: placeholder.kind) } else { nil }
        }
    }

    /// The template that matches what either of two does, if they differ only slightly, in the lengths of parts; otherwise nil.
    func merged(with other: TextTemplate) -> TextTemplate? {
        guard parts.count == other.parts.count else { return nil }
        var merged: [Part] = []
        for (left, right) in zip(parts, other.parts) {
            switch (left, right) {
            case (.literal(let one), .literal(let two)) where one == two: merged.append(left)
            case (.any(let one), .any(let two))
            where one.kind == two.kind && one.least <= two.most && two.least <= one.most:
                merged.append(
                    .any(Placeholder(one.kind, min(one.least, two.least), max(one.most, two.most))))
            default: return nil
            }
        }
        return TextTemplate(parts: merged)
    }
}
