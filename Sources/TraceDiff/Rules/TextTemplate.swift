/// What texts have in common that are others in each run, and what of them may be any: `{"token": "«uuid»", "user": "bob"}`.
///
/// It fits whole texts. An `«` that begins no placeholder stands for itself.
public struct TextTemplate: Hashable, Sendable {
    enum Part: Hashable, Sendable {
        case literal([UInt8])
        case any(Placeholder)
    }

    let parts: [Part]

    init(parts: [Part]) { self.parts = parts }

    /// Reads a template as `source` writes it; nil where it has no placeholder.
    public init?(_ source: String) {
        var parts: [Part] = []
        var literal = ""
        var rest = source[...]
        while let open = rest.firstIndex(of: "«") {
            literal += rest[..<open]
            let inside = rest[rest.index(after: open)...]
            if let close = inside.firstIndex(of: "»"), let placeholder = Placeholder(inside[..<close]) {
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

    /// The template as it is written.
    public var source: String {
        parts.map { part in
            switch part {
            case .literal(let bytes): String(decoding: bytes, as: UTF8.self)
            case .any(let placeholder): placeholder.description
            }
        }.joined()
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

    /// A text with the name of its kind for each part that may be any, and how many bytes these have; nil where the text does not fit.
    func masking(_ text: String) -> (text: String, masked: Int)? {
        let bytes = Array(text.utf8)
        var budget = 10_000
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

    /// What is left of a masked part: its kind; of dates and times, how they are written.
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

    /// How long each part is; the budget ends what would take too long.
    private func match(_ parts: ArraySlice<Part>, _ text: ArraySlice<UInt8>, _ budget: inout Int) -> [Int]? {
        budget -= 1
        guard budget > 0 else { return nil }
        guard let part = parts.first else { return text.isEmpty ? [] : nil }
        switch part {
        case .literal(let literal):
            guard text.starts(with: literal) else { return nil }
            return match(parts.dropFirst(), text.dropFirst(literal.count), &budget).map { [literal.count] + $0 }
        case .any(let placeholder):
            for length in placeholder.lengths(in: text) {
                if let rest = match(parts.dropFirst(), text.dropFirst(length), &budget) { return [length] + rest }
            }
            return nil
        }
    }

    /// How much it leaves open: of two templates that fit, the more general one counts.
    var generality: [Int] {
        let kinds = Placeholder.Kind.allCases
        return parts.compactMap { part in
            if case .any(let placeholder) = part { kinds.firstIndex(of: placeholder.kind) } else { nil }
        }
    }

    /// The template that fits what either of two does, where they only differ in how long parts are, and not much; nil where they do not.
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
