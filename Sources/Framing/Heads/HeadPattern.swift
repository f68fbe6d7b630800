import Streams

/// The layout of a JSON head: where the values of its members are. Most heads of a peer differ in these alone, so the next one is
/// compared with an earlier one, the model, which takes far less than to scan it.
///
/// What lies between the values is the same as in the model, and a value is one of the same kind. So if the model is an object, the
/// other head is one, too, with the same members.
struct HeadPattern {
    /// Where the values start and end in the model, strings without their quotes. More of them are compared as they are.
    private var starts = SIMD8<UInt16>()
    private var ends = SIMD8<UInt16>()
    private var count = 0
    /// Which of them are numbers, by bits.
    private var numbers: UInt8 = 0
    /// Which of them is the one asked for; negative if none is.
    private var wanted = -1

    /// The longest model, in bytes.
    static let longest = 1_024

    /// The pattern of a head; nil if it is none that can be compared.
    ///
    /// - Parameters:
    ///   - model: an object, and what ends the head.
    ///   - name: the member that is asked for.
    init?(_ model: RawSpan, _ name: JSONMemberName) {
        guard model.byteCount <= Self.longest else { return nil }
        var pattern = self
        var scanner = JSONScanner()
        do throws(JSONSyntaxError) {
            try scanner.members(model) { key, kind, range in
                let isWanted = name.isKey(key, in: model)
                // Of members with the same name the last one counts.
                if isWanted { pattern.wanted = -1 }
                guard pattern.count < 8 else { return }
                switch kind {
                case .string(escaped: false):
                    pattern.starts[pattern.count] = UInt16(range.lowerBound + 1)
                    pattern.ends[pattern.count] = UInt16(range.upperBound - 1)
                case .number(fractional: false) where Self.endOfCount(model, from: range.lowerBound) == range.upperBound:
                    pattern.starts[pattern.count] = UInt16(range.lowerBound)
                    pattern.ends[pattern.count] = UInt16(range.upperBound)
                    pattern.numbers |= 1 << UInt8(pattern.count)
                default: return
                }
                if isWanted { pattern.wanted = pattern.count }
                pattern.count += 1
            }
        } catch {
            return nil
        }
        guard pattern.wanted >= 0 else { return nil }
        self = pattern
    }

    private init() {}

    /// Where the head at an index has the value that is asked for, quotes included, and where the head ends; nil if it differs from the
    /// model in more than values.
    func match(_ bytes: RawSpan, at start: Int, model: RawSpan) -> (value: Range<Int>, end: Int)? {
        var (at, from) = (start, 0)
        var found = 0..<0
        for index in 0..<count {
            let value = Int(starts[index])
            guard Self.hasSame(bytes, at: at, as: model, from..<value) else { return nil }
            at &+= value &- from
            let first = at
            if numbers >> UInt8(index) & 1 != 0 {
                at = Self.endOfCount(bytes, from: at)
                guard at > first else { return nil }
                if index == wanted { found = first..<at }
            } else {
                // What follows in the model is the quote.
                at = JSONScanner.endOfPlain(bytes, from: at)
                if index == wanted { found = first &- 1..<at &+ 1 }
            }
            from = Int(ends[index])
        }
        guard Self.hasSame(bytes, at: at, as: model, from..<model.byteCount) else { return nil }
        return (found, at &+ model.byteCount &- from)
    }

    /// Where a whole number without a sign ends that may start at an index.
    private static func endOfCount(_ bytes: RawSpan, from start: Int) -> Int {
        var at = start
        while at < bytes.byteCount, 0x30...0x39 ~= bytes[unchecked: at] {
            at &+= 1
            // No other digit follows a zero at the start.
            if at == start &+ 1, bytes[unchecked: start] == 0x30 { break }
        }
        return at
    }

    /// Whether the bytes at an index are those in a range of the model.
    @inline(__always)
    private static func hasSame(_ bytes: RawSpan, at start: Int, as model: RawSpan, _ range: Range<Int>) -> Bool {
        let (first, count) = (range.lowerBound, range.count)
        guard bytes.byteCount &- start >= count else { return false }
        func differ(at index: Int) -> UInt64 {
            bytes.unsafeLoadUnaligned(fromUncheckedByteOffset: start &+ index, as: UInt64.self).littleEndian
                ^ model.unsafeLoadUnaligned(fromUncheckedByteOffset: first &+ index, as: UInt64.self).littleEndian
        }
        if count >= 8 {
            for index in stride(from: 0, to: count &- 8, by: 8) where differ(at: index) != 0 { return false }
            return differ(at: count &- 8) == 0
        }
        if start &+ 8 <= bytes.byteCount, first &+ 8 <= model.byteCount {
            return count == 0 || differ(at: 0) << UInt64(64 &- 8 &* count) == 0
        }
        return bytes.extracting(unchecked: start..<start &+ count)
            .elementsEqual(model.extracting(unchecked: range))
    }
}

/// The patterns of the heads seen lately, of the frames of many streams.
///
/// Nothing called here re-enters to change it, so exclusivity is not checked.
package final class HeadPatterns {
    private final class Known {
        let pattern: HeadPattern
        let model: [UInt8]

        init(_ pattern: HeadPattern, _ model: [UInt8]) { (self.pattern, self.model) = (pattern, model) }
    }

    /// The one that matched or was learned last comes first.
    @exclusivity(unchecked) private var known: [Known] = []
    /// How many heads in a row matched none.
    @exclusivity(unchecked) private var misses = 0

    private static let most = 4

    /// None.
    package init() {}

    /// Whether heads match so seldom that trying takes longer than it saves; then it is tried now and then.
    private var isHopeless: Bool { misses > 16 && misses & 63 != 0 }

    /// The value asked for in the head at an index, and where the head ends; nil if it is like none that was learned.
    func match(_ bytes: RawSpan, at start: Int) -> (value: Range<Int>, end: Int)? {
        if isHopeless { return nil }
        for index in known.indices {
            let model = known[index].model
            let found = known[index].pattern.match(bytes, at: start, model: model.span.bytes)
            guard let found else { continue }
            // Not 0: heads that never match do not become worth trying because those of another stream do.
            misses /= 2
            if index > 0 { known.insert(known.remove(at: index), at: 0) }
            return found
        }
        return nil
    }

    /// Learns a head that matched none: an object, and what ends the head.
    func learn(_ head: RawSpan, _ name: JSONMemberName) {
        misses += 1
        guard !isHopeless, let pattern = HeadPattern(head, name) else { return }
        known.insert(Known(pattern, head.copied()), at: 0)
        if known.count > Self.most { known.removeLast() }
    }
}
