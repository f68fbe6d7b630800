import Streams

/// A line of words.
final class WordLineCheck: StartCheck {
    private struct Word: Sendable {
        var isNumber: Bool
        /// The only texts that it may have; nil: any, or some that are not in ASCII.
        var texts: [[UInt8]]?
    }

    private let line: WordLine
    /// The words that every line has first.
    private let words: [Word]
    /// Whether no line has others.
    private let isFixed: Bool
    /// The longest word that may be the last one, if there are only a few.
    private let longestLast: Int?

    init(_ line: WordLine) {
        self.line = line
        words = line.words.prefix { $0.presence == .required }.map { word in
            let texts = word.allowed.map { Array($0.utf8) }
            let isPlain = !texts.isEmpty && texts.joined().allSatisfy { $0 < 0x80 }
            return Word(isNumber: word.isNumber, texts: isPlain ? texts : nil)
        }
        isFixed = words.count == line.words.count
        longestLast = isFixed ? words.last?.texts?.map(\.count).max() : nil
    }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        // A walk looks no further.
        let (furthest, overflow) = at.addingReportingOverflow(line.most + (line.ends.first?.count ?? 1))
        let end = overflow ? bytes.byteCount : min(bytes.byteCount, furthest)
        guard line.mayBegin(bytes.extracting(at..<end)) else { return .isOut }
        return bytes.judge(from: at, to: line.ends, most: line.most) { mayFit($0) }
    }

    /// Whether a line, without its end, may be of these words.
    private func mayFit(_ bytes: RawSpan) -> Bool {
        // Its last word decides most lines, and is next to where they end. A character of at most four bytes may equal one in ASCII.
        if let longestLast, let texts = words.last?.texts {
            guard let last = bytes.lastWord(upTo: 4 * longestLast), mayBe(bytes.extracting(last), texts) else {
                return false
            }
        }
        var at = 0
        for word in words {
            guard let place = bytes.word(from: at) else { return false }
            let found = bytes.extracting(place)
            if word.isNumber, !found.mayBeDecimal { return false }
            if let texts = word.texts, !mayBe(found, texts) { return false }
            at = place.upperBound
        }
        return !isFixed || bytes.word(from: at) == nil
    }

    private func mayBe(_ bytes: RawSpan, _ texts: [[UInt8]]) -> Bool {
        bytes.mayBe(oneOf: texts, ignoresCase: line.ignoresCase)
    }
}

/// Text up to its end.
final class EndedTextCheck: StartCheck {
    private let text: TextEnd
    /// The only texts that it may be, in ASCII; empty: others, too.
    private let texts: [[UInt8]]

    init(_ text: TextEnd, _ allowed: [AllowedValues]) {
        self.text = text
        let texts = allowed.compactMap { values -> [UInt8]? in
            guard case .text(let text) = values.low, text.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
            return Array(text.utf8)
        }
        self.texts = texts.count == allowed.count ? texts : []
    }

    func judge(_ bytes: RawSpan, _ at: Int) -> StartVerdict {
        bytes.judge(from: at, to: text.ends, most: text.most) { found in
            texts.isEmpty || found.mayBe(oneOf: texts, ignoresCase: false)
        }
    }
}

extension RawSpan {
    /// The verdict on what ends with one of several byte strings, the longest first.
    ///
    /// - Parameters:
    ///   - most: how many bytes it may have without its end.
    ///   - mayBe: whether it may be these bytes.
    fileprivate func judge(
        from start: Int, to ends: [[UInt8]], most: Int, _ mayBe: (RawSpan) -> Bool
    ) -> StartVerdict {
        let (furthest, overflow) = start.addingReportingOverflow(most + (ends.first?.count ?? 1))
        let known = extracting(0..<(overflow ? byteCount : Swift.min(byteCount, furthest)))
        guard let found = known.firstEnd(of: ends, from: start) else {
            return !overflow && known.byteCount == furthest ? .isOut : .open
        }
        guard found.lowerBound - start <= most, mayBe(extracting(start..<found.lowerBound)) else { return .isOut }
        return .fits(found.upperBound)
    }

    /// Whether text may be one of several in ASCII, as far as can be told without Unicode's tables: U+212A is canonically equivalent to
    /// K (Unicode Standard, section 3.7), so that text with other bytes is not ruled out.
    fileprivate func mayBe(oneOf texts: [[UInt8]], ignoresCase: Bool) -> Bool {
        for text in texts where text.count == byteCount {
            var at = 0
            while at < byteCount {
                let (found, wanted) = (self[byte: at], text[at])
                guard found.equals(wanted, ignoringCase: ignoresCase) else { break }
                at += 1
            }
            if at == byteCount { return true }
        }
        for at in 0..<byteCount where self[byte: at] >= 0x80 { return true }
        return false
    }

    /// Whether text may be a decimal number without anything superfluous.
    fileprivate var mayBeDecimal: Bool {
        guard (1...20).contains(byteCount) else { return false }
        for at in 0..<byteCount {
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self[byte: at])
            if !isDigit, at > 0 || self[byte: at] != UInt8(ascii: "-") { return false }
        }
        return true
    }
}
