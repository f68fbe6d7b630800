/// Learns from the values at one place in runs that should be equal which parts of them differ each time.
enum TemplateLearning {
    private enum Atom: Hashable {
        /// Something recognised by its form, or a word: letters and digits.
        case slot(String)
        /// What is in between.
        case other(UInt8)

        var text: [UInt8] {
            switch self {
            case .slot(let text): Array(text.utf8)
            case .other(let byte): [byte]
            }
        }

        var isSlot: Bool { if case .slot = self { true } else { false } }
    }

    /// The template that fits all of the values; nil if they differ in ordinary words, or not at all.
    static func template(of values: [String]) -> TextTemplate? {
        let texts = values.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
        guard texts.count > 1 else { return nil }
        // A token may contain something like a word by chance: a longer one is less likely.
        let readings = [3, 6, 10].map { longest in texts.map { Self.atoms(of: Array($0.utf8), shortestWord: longest) } }
        guard let parts = readings.lazy.compactMap(positional).first ?? readings.lazy.compactMap(middle).first else {
            return nil
        }
        return TextTemplate(parts: joined(parts))
    }

    /// Joins adjacent literals.
    private static func joined(_ parts: [TextTemplate.Part]) -> [TextTemplate.Part] {
        var joined: [TextTemplate.Part] = []
        for part in parts {
            if case .literal(let bytes) = part, case .literal(let before)? = joined.last {
                joined[joined.count - 1] = .literal(before + bytes)
            } else {
                joined.append(part)
            }
        }
        return joined.filter { $0 != .literal([]) }
    }

    /// If all texts have the same structure, slot by slot.
    private static func positional(_ atoms: [[Atom]]) -> [TextTemplate.Part]? {
        let first = atoms[0]
        for other in atoms.dropFirst() {
            guard other.count == first.count, zip(first, other).allSatisfy({ $0 == $1 || $0.isSlot && $1.isSlot })
            else {
                return nil
            }
        }
        var parts: [TextTemplate.Part] = []
        for place in first.indices {
            guard let part = slot(atoms.map { $0[place].text }) else { return nil }
            parts += part
        }
        return parts
    }

    /// Otherwise, the part between their common prefix and suffix, as one.
    private static func middle(_ atoms: [[Atom]]) -> [TextTemplate.Part]? {
        let shortest = atoms.map(\.count).min() ?? 0
        let prefix = (0..<shortest).prefix { place in atoms.allSatisfy { $0[place] == atoms[0][place] } }.count
        let suffix = (0..<shortest - prefix).prefix { back in
            atoms.allSatisfy { $0[$0.count - 1 - back] == atoms[0][atoms[0].count - 1 - back] }
        }.count
        let texts = atoms.map { $0[prefix..<$0.count - suffix].flatMap(\.text) }
        guard let part = slot(texts) else { return nil }
        return [.literal(atoms[0].prefix(prefix).flatMap(\.text))] + part
            + [.literal(atoms[0].suffix(suffix).flatMap(\.text))]
    }

    // MARK: Atoms

    private static func atoms(of text: [UInt8], shortestWord: Int) -> [Atom] {
        var atoms: [Atom] = []
        var runs = TokenRuns(text)
        var at = 0
        while at < text.count {
            let rest = text[at...]
            let length = slotLength(rest, after: at > 0 ? text[at - 1] : nil, shortestWord, &runs)
            if length > 0 {
                atoms.append(.slot(String(decoding: rest.prefix(length), as: UTF8.self)))
                at += length
            } else {
                atoms.append(.other(text[at]))
                at += 1
            }
        }
        return atoms
    }

    /// The runs of letters, digits and separators in a text, which may be tokens.
    private struct TokenRuns {
        private let text: [UInt8]
        /// The end of the run that was found last.
        private var end = 0
        /// How many bytes may still be looked at again: the end of a run that is no token may be one.
        private var budget = 1 << 20

        init(_ text: [UInt8]) { self.text = text }

        /// The run from a place on, to be looked at; empty if there is none, or if runs were looked at too often.
        mutating func run(from place: Int) -> ArraySlice<UInt8> {
            if place < end {
                budget -= end - place
                guard budget > 0 else { return [] }
            } else {
                end = place + text[place...].prefix(while: TextShapes.isTokenByte).count
            }
            return text[place..<end]
        }
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        TextShapes.isDigit(byte) || TextShapes.isLetter(byte) || byte >= 0x80
    }

    private static func slotLength(
        _ rest: ArraySlice<UInt8>, after before: UInt8?, _ shortestWord: Int, _ runs: inout TokenRuns
    ) -> Int {
        let isAfterWord = before.map(isWordByte) ?? false
        if !isAfterWord {
            for length in [TextShapes.uuid(rest), TextShapes.datetime(rest), TextShapes.time(rest)] {
                if let length, !(rest.dropFirst(length).first.map(isWordByte) ?? false) { return length }
            }
            let run = runs.run(from: rest.startIndex)
            if run.count >= 12, isRandom(run, shortestWord) { return run.count }
        }
        let isSigned = rest.first == 0x2d && !isAfterWord
        if rest.first.map({ TextShapes.isDigit($0) }) == true || isSigned,
            let number = TextShapes.number(rest, 1, 4_096), !(rest.dropFirst(number).first.map(isWordByte) ?? false)
        {
            return number
        }
        return rest.prefix(while: isWordByte).count
    }

    /// Whether letters, digits and separators are random as a whole, and contain no word.
    private static func isRandom(_ run: ArraySlice<UInt8>, _ shortestWord: Int) -> Bool {
        guard TextShapes.mayBeToken(run) else { return false }
        let parts = run.split { !isWordByte($0) }
        return parts.count == 1 || !parts.contains { $0.count >= shortestWord && isWord($0) }
    }

    /// Letters of one case, or with one capital at the beginning, that have a vowel; or digits.
    private static func isWord(_ text: ArraySlice<UInt8>) -> Bool {
        if text.allSatisfy(TextShapes.isDigit) { return true }
        guard text.allSatisfy(TextShapes.isLetter) else { return false }
        let rest = text.dropFirst()
        return (rest.allSatisfy { $0 & 0x20 != 0 } || text.allSatisfy { $0 & 0x20 == 0 })
            && text.contains { "aeiouy".utf8.contains($0 | 0x20) }
    }

    // MARK: Slots

    /// The placeholder that fits all of the texts at one place; nil if they are ordinary words.
    private static func slot(_ texts: [[UInt8]]) -> [TextTemplate.Part]? {
        if texts.allSatisfy({ $0 == texts[0] }) { return [.literal(texts[0])] }
        guard texts.allSatisfy({ !$0.isEmpty }) else { return nil }
        func all(_ length: (ArraySlice<UInt8>) -> Int?) -> Bool { texts.allSatisfy { length($0[...]) == $0.count } }
        let (least, most) = (texts.map(\.count).min() ?? 1, texts.map(\.count).max() ?? 1)
        if all(TextShapes.uuid) { return [.any(Placeholder(.uuid, 1, 4_096))] }
        if all(TextShapes.datetime) { return [.any(Placeholder(.datetime, 1, 4_096))] }
        if all(TextShapes.time) { return [.any(Placeholder(.time, 1, 4_096))] }
        if all({ TextShapes.number($0, 1, 4_096) }) { return [.any(number(texts))] }
        if let part = numbered(texts) { return part }
        let isHex = texts.allSatisfy { $0.allSatisfy(TextShapes.isHexDigit) }
        // With few characters, those beyond f may be missing by chance.
        let characters = texts.reduce(0) { $0 + $1.count }
        if isHex, characters >= 12, texts.contains(where: { $0.contains(where: TextShapes.isDigit) }) {
            let isFixed = least == most && least >= 6
            return [.any(isFixed ? Placeholder(.hex, least, least) : Placeholder(.hex, max(1, least - 3), most + 2))]
        }
        guard texts.allSatisfy({ $0.allSatisfy(TextShapes.isTokenByte) }) else { return nil }
        let likely = texts.count { TextShapes.mayBeToken($0[...]) }
        // One that looks like a word by chance has the same length as the others.
        guard likely == texts.count || least == most && least >= 8 && likely * 2 > texts.count else { return nil }
        let isFixed = least == most && least >= 8
        return [
            .any(
                isFixed
                    ? Placeholder(.token, least, least)
                    : Placeholder(.token, max(2, least - least / 4), most + most / 4 + 1))
        ]
    }

    /// How many digits a number may have: those of a time in seconds or milliseconds stay the same.
    private static func number(_ texts: [[UInt8]]) -> Placeholder {
        let whole = texts.map { $0.drop { $0 == 0x2d }.prefix(while: TextShapes.isDigit) }
        let (least, most) = (whole.map(\.count).min() ?? 1, whole.map(\.count).max() ?? 1)
        let isClock = least == most && least >= 10 && whole.allSatisfy { $0.prefix(3) == whole[0].prefix(3) }
        return isClock ? Placeholder(.number, least, most) : Placeholder(.number, max(1, least - 4), most + 2)
    }

    /// Words that differ only in the number they contain, such as `job17`.
    private static func numbered(_ texts: [[UInt8]]) -> [TextTemplate.Part]? {
        func split(_ text: [UInt8]) -> (head: ArraySlice<UInt8>, digits: ArraySlice<UInt8>, tail: ArraySlice<UInt8>) {
            let head = text.prefix { !TextShapes.isDigit($0) }
            let digits = text.dropFirst(head.count).prefix(while: TextShapes.isDigit)
            return (head, digits, text.dropFirst(head.count + digits.count))
        }
        let parts = texts.map(split)
        guard parts.allSatisfy({ !$0.digits.isEmpty && $0.head == parts[0].head && $0.tail == parts[0].tail }),
            !parts[0].tail.contains(where: TextShapes.isDigit)
        else { return nil }
        return [
            .literal(Array(parts[0].head)), .any(number(parts.map { Array($0.digits) })),
            .literal(Array(parts[0].tail)),
        ]
    }

    // MARK: Bytes

    /// The template of bytes in hex: whole numbers of four bytes, or eight, that differ; all of them if more than half or their
    /// count differ.
    static func template(ofHex values: [String]) -> TextTemplate? {
        let texts = values.map { Array($0.utf8) }
        let (least, most) = (texts.map(\.count).min() ?? 0, texts.map(\.count).max() ?? 0)
        guard most > 0, Set(values).count > 1 else { return nil }
        let different =
            least == most
            ? (0..<least / 2).filter { place in
                texts.contains { $0[2 * place..<2 * place + 2] != texts[0][2 * place..<2 * place + 2] }
            } : []
        if least != most || different.count * 2 > least / 2 {
            return TextTemplate(parts: [.any(Placeholder(.hex, max(1, least / 2), most * 2))])
        }
        var open: Set<Int> = []
        for place in different {
            let start = place / 4 * 4
            open.formUnion(start..<min(least / 2, start + 4))
        }
        var parts: [TextTemplate.Part] = []
        for place in 0..<least / 2 {
            if open.contains(place) {
                if case .any(let before)? = parts.last {
                    parts[parts.count - 1] = .any(Placeholder(.hex, before.least + 2, before.most + 2))
                } else {
                    parts.append(.any(Placeholder(.hex, 2, 2)))
                }
            } else {
                parts.append(.literal(Array(texts[0][2 * place..<2 * place + 2])))
            }
        }
        return TextTemplate(parts: joined(parts))
    }
}
