import Streams

/// A line of words: `SET key 0 60 5`, `HTTP/1.1 404 Not Found`.
///
/// Words are separated by spaces or tabs. A line with fewer words than are required, or with more than there are, does not fit.
struct WordLine: Sendable {
    /// A word of the line.
    struct Word: Sendable {
        /// How it occurs.
        enum Presence: Sendable {
            case required
            /// Present if the line has enough words.
            case optional
            /// What is left of the line, spaces included; absent if nothing is.
            case rest
            /// What is left of the line as a list of words.
            case list
        }

        var name: String
        var presence = Presence.required
        /// Whether it is a decimal number.
        var isNumber = false
        /// The only texts that it may have; empty: any. Compared without regard to case if the line says so.
        var allowed: [String] = []
    }

    var words: [Word]
    /// What ends the line, longest first; belongs to it.
    var ends: [[UInt8]]
    /// The longest line, in bytes, without its end.
    var most: Int
    /// Whether letters of `allowed` may have the other case.
    var ignoresCase = false

    /// The bytes that the line may start with.
    var firstBytes: ByteSet {
        guard let first = words.first, !first.allowed.isEmpty, first.presence == .required else { return .all }
        let bytes = first.allowed.compactMap(\.utf8.first)
        return ByteSet { byte in
            bytes.contains { $0 == byte || ignoresCase && $0.lowercased == byte.lowercased }
        }
    }

    /// Whether the first bytes of a line may be its first word: a word has no control characters.
    func mayBegin(_ bytes: RawSpan) -> Bool {
        guard let first = words.first, first.presence == .required else { return true }
        if !first.allowed.isEmpty, !mayBeAllowed(first, bytes) { return false }
        for at in 0..<min(bytes.byteCount, 64) {
            let byte = bytes[byte: at]
            if byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a { return true }
            if byte < 0x20 || byte == 0x7f { return false }
        }
        return true
    }

    /// Why a line does not begin with these bytes, where `mayBegin` is false.
    func complaint(about bytes: RawSpan) -> String {
        let line = "a line of \(words.map(\.name).joined(separator: " "))"
        guard let first = words.first, !first.allowed.isEmpty, !mayBeAllowed(first, bytes) else {
            return "\(line) has no control characters"
        }
        return "\(line) begins with \(first.allowed.joined(separator: ", "))"
    }

    /// Whether the bytes so far may be one of a word's values.
    private func mayBeAllowed(_ word: Word, _ bytes: RawSpan) -> Bool {
        var start = 0
        while start < bytes.byteCount, bytes[byte: start] == 0x20 || bytes[byte: start] == 0x09 { start += 1 }
        return word.allowed.contains { value in
            var at = start
            for byte in value.utf8 {
                guard at < bytes.byteCount else { return true }
                let found = bytes[byte: at]
                guard found == byte || ignoresCase && found.lowercased == byte.lowercased else { return false }
                at += 1
            }
            return at >= bytes.byteCount || [0x20, 0x09, 0x0d, 0x0a].contains(bytes[byte: at])
                || ends.contains { $0.first == bytes[byte: at] }
        }
    }

    /// A word of a line: its value, and where it is.
    struct Place {
        var name: String
        var value: FieldValue
        var range: Range<Int>
    }

    /// The words of a line without its end, with their places; nil if it does not fit.
    func places(in line: RawSpan) -> [Place]? {
        guard mayBegin(line) else { return nil }
        var spare = words.contains { $0.presence == .optional } ? spareWords(in: line) : 0
        var places: [Place] = []
        // The end of the last word, and whether all words were taken.
        var end: Int?
        var isWhole = false
        for word in words {
            switch word.presence {
            case .optional:
                guard spare > 0 else { continue }
                spare -= 1
                fallthrough
            case .required:
                guard !isWhole, let range = line.word(from: end ?? 0), let value = value(word, line, range) else {
                    return nil
                }
                places.append(Place(name: word.name, value: value, range: range))
                end = range.upperBound
            case .rest:
                let start = isWhole ? line.lastWordEnd.map { $0 + 1 } ?? 0 : end.map { $0 + 1 } ?? 0
                if start <= line.byteCount {
                    let range = start..<line.byteCount
                    places.append(Place(name: word.name, value: Self.text(line.extracting(range)), range: range))
                }
                isWhole = true
            case .list:
                let pieces = isWhole ? [] : line.words(from: end ?? 0)
                var list: [UInt8] = []
                JSONValue.array(pieces.map { JSONValue(Self.text(line.extracting($0))) }).write(into: &list)
                // No words are where the line ends.
                let last = line.lastWordEnd ?? line.byteCount
                let range = (pieces.first?.lowerBound ?? last)..<last
                let value = FieldValue.json(String(decoding: list, as: UTF8.self))
                places.append(Place(name: word.name, value: value, range: range))
                isWhole = true
            }
        }
        return isWhole || line.word(from: end ?? 0) == nil ? places : nil
    }

    /// How many words a line has in addition to those that are required.
    private func spareWords(in line: RawSpan) -> Int {
        line.words(from: 0).count - words.count { $0.presence == .required }
    }

    /// The line of these values, without its end.
    ///
    /// - Parameter old: the line that is rewritten: words that are the same, and what is between words, keep their bytes.
    func write(
        like old: ArraySlice<UInt8>? = nil, _ value: (String) -> FieldValue?
    ) throws(EncodingError) -> [UInt8] {
        var texts: [(name: String, value: FieldValue, bytes: [UInt8])] = []
        for word in words {
            guard let given = value(word.name) ?? (word.presence == .required ? standard(word) : nil) else { continue }
            texts.append((word.name, given, try text(of: word, given)))
        }
        var line: [UInt8] = []
        if let known = old.map({ Array($0) }), let places = places(in: known.span.bytes),
            places.map(\.name) == texts.map(\.name),
            zip(places, texts).allSatisfy({ $0.range.isEmpty == $1.bytes.isEmpty })
        {
            var at = 0
            for (place, text) in zip(places, texts) {
                line += known[at..<place.range.lowerBound]
                line += JSONValue(place.value) == JSONValue(text.value) ? Array(known[place.range]) : text.bytes
                at = place.range.upperBound
            }
            line += known[at...]
        } else {
            for (index, text) in texts.enumerated() {
                // A list without words.
                if case .json = text.value, text.bytes.isEmpty { continue }
                line += (index > 0 ? [0x20] : []) + text.bytes
            }
        }
        for end in ends where line.span.bytes.firstRange(of: end, from: 0) != nil {
            throw EncodingError("the line of \(words.map(\.name).joined(separator: ", ")) contains its end")
        }
        return line
    }

    /// The bytes of a word.
    func text(of word: Word, _ given: FieldValue) throws(EncodingError) -> [UInt8] {
        if case .json(let text) = given {
            let value = JSONValue(compact: Array(text.utf8).span.bytes)
            if case .array(let items) = value {
                return Array(items.compactMap(\.plainText).joined(separator: " ").utf8)
            }
            if let raw = value.hexBytes { return raw }
        }
        if case .bytes(let raw) = given { return raw }
        guard let text = given.plainText else {
            throw EncodingError.unfit(word.name, given, "expected a word")
        }
        return Array(text.utf8)
    }

    private func standard(_ word: Word) -> FieldValue? {
        word.isNumber ? .integer(0) : .text(word.allowed.first ?? "")
    }

    private func value(_ word: Word, _ line: RawSpan, _ place: Range<Int>) -> FieldValue? {
        let value = Self.text(line.extracting(place))
        if word.isNumber {
            // Only a number that is written the same way again.
            guard case .text(let text) = value, let number = Int64(text), String(number) == text else { return nil }
            return .integer(number)
        }
        guard !word.allowed.isEmpty else { return value }
        guard case .text(let text) = value else { return nil }
        let fits = word.allowed.contains { $0 == text || ignoresCase && $0.lowercased() == text.lowercased() }
        return fits ? value : nil
    }

    static func text(_ bytes: RawSpan) -> FieldValue {
        guard bytes.firstInvalidUTF8() == nil else { return .bytes(bytes.copied()) }
        return .text(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
    }

    /// A line for display. Only its beginning is read: detection tries a line at many positions.
    static func shortDescription(_ line: RawSpan) -> String {
        // A scalar has at most four bytes; one more than are shown says that there are more.
        let most = 4 * (FieldValue.mostShown + 1)
        var end = min(line.byteCount, most)
        if end < line.byteCount {
            // Not within a scalar.
            while end > most - 4, line[byte: end] & 0xc0 == 0x80 { end -= 1 }
        }
        guard case .text(let text) = text(line.extracting(0..<end)) else { return "\(line.byteCount) bytes" }
        return FieldValue.text(text).shortDescription
    }
}

extension RawSpan {
    private func isSpace(_ at: Int) -> Bool { self[byte: at] == 0x20 || self[byte: at] == 0x09 }

    /// The first word at or after an index; nil if there is none.
    func word(from index: Int) -> Range<Int>? {
        var start = index
        while start < byteCount, isSpace(start) { start += 1 }
        guard start < byteCount else { return nil }
        var end = start + 1
        while end < byteCount, !isSpace(end) { end += 1 }
        return start..<end
    }

    /// The words from an index on.
    fileprivate func words(from index: Int) -> [Range<Int>] {
        var words: [Range<Int>] = []
        var at = index
        while let word = word(from: at) {
            words.append(word)
            at = word.upperBound
        }
        return words
    }

    /// Where the last word ends; nil if there is none.
    var lastWordEnd: Int? {
        var end = byteCount
        while end > 0, isSpace(end - 1) { end -= 1 }
        return end > 0 ? end : nil
    }

    /// The last word; nil if there is none, or one of more than `longest` bytes.
    func lastWord(upTo longest: Int) -> Range<Int>? {
        guard let end = lastWordEnd else { return nil }
        var start = end - 1
        while start > 0, !isSpace(start - 1) {
            start -= 1
            if end - start > longest { return nil }
        }
        return start..<end
    }
}
