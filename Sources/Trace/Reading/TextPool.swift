import Streams

/// Texts, each kept once and known by its number: much of what frames say, they say again.
package struct TextPool: Sendable {
    private var bytes: [UInt8] = []
    /// Where each text ends.
    private var ends: [Int] = []
    /// Nil once the pool is compact; made anew if another text is entered.
    private var index: NumberIndex? = NumberIndex()

    /// A pool without texts.
    package init() {}

    /// How many texts it has.
    package var count: Int { ends.count }

    /// The number of a text, which is entered if it is new. Numbers count from 0.
    package mutating func number(of text: RawSpan) -> Int {
        if index == nil { makeIndex() }
        let hash = Self.hash(text)
        if let known = index?.find(hash, where: { isEqual($0, text) }) { return known }
        bytes.append(contentsOf: text)
        ends.append(bytes.count)
        return index?.insert(hash) ?? ends.count - 1
    }

    /// Uses a text.
    package func with<Result>(_ number: Int, _ use: (RawSpan) -> Result) -> Result {
        use(bytes.span.bytes.extracting(range(of: number)))
    }

    /// Takes no more memory than its texts need; entering more of them takes longer once.
    package mutating func compact() {
        index = nil
        bytes = bytes.fitted
        ends = ends.fitted
    }

    private func range(of number: Int) -> Range<Int> { (number == 0 ? 0 : ends[number - 1])..<ends[number] }

    private func isEqual(_ number: Int, _ text: RawSpan) -> Bool {
        let range = range(of: number)
        return range.count == text.byteCount && bytes.span.bytes.extracting(range).elementsEqual(text)
    }

    private mutating func makeIndex() {
        var made = NumberIndex()
        for number in ends.indices { _ = made.insert(with(number, Self.hash)) }
        index = made
    }

    private static func hash(_ text: RawSpan) -> Int {
        var hasher = Hasher()
        text.withUnsafeBytes { hasher.combine(bytes: $0) }
        return hasher.finalize()
    }
}

extension Array {
    /// The same elements in memory of their size.
    package var fitted: [Element] {
        if capacity <= count + count / 8 { return self }
        var fitted: [Element] = []
        fitted.reserveCapacity(count)
        fitted += self
        return fitted
    }
}
