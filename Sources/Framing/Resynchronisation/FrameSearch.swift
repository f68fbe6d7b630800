import Streams

/// The search for the place where frames chain again: after bad bytes, after a gap, or when a stream is picked up mid-stream. It
/// is the same for all rules: they supply the evidence for a place, and the search weighs it.
///
/// Places are tried in stream order. One is accepted when the evidence of its chain of frames outweighs the number of places
/// tried, and rejected when the chain breaks; so the outcome depends on the stream's bytes alone, never on their segmentation.
/// While the end of a long frame is waited for, places inside it are tried, too.
struct FrameSearch {
    /// The result of examining the available bytes.
    enum Outcome {
        /// A frame starts at this index. `how` is a human-readable explanation, with its certainty.
        case found(at: Int, how: String, isOpening: Bool)
        /// No frame starts before this index, and there is no need to search again before the stream has reached an offset.
        case undecided(from: Int, until: Int)
    }

    /// The stream offset where it began.
    private let begin: Int
    /// The readings of the stream decided on.
    private let choices: UInt32
    /// The next place to try.
    private var place: Int
    /// Whether the bytes before it end a frame; nil if not yet determined, or unknown.
    private var isAfterEnd: Bool?
    private var triesOpening: Bool
    /// Whether it is described how a frame was found.
    private let explains: Bool
    /// How many places were tried, if only some are.
    private var tried = 0
    private var chain: FrameChain? {
        get { openChain?.chain }
        set { openChain = newValue.map { OpenChain($0) } }
    }
    private var openChain: OpenChain?
    /// The search inside a long frame that is waited for, once there was one.
    private var inside: SearchInside {
        get { openInside?.search ?? SearchInside(begin: begin, choices: choices) }
        set { openInside = OpenInside(newValue) }
    }
    private var openInside: OpenInside?
    /// How many bytes checksums were computed of at the places before this one.
    private var summed = 0

    /// An undecided chain, boxed: every stream being searched has a search, and most have no chain.
    private final class OpenChain {
        let chain: FrameChain

        init(_ chain: FrameChain) { self.chain = chain }
    }

    private final class OpenInside {
        let search: SearchInside

        init(_ search: SearchInside) { self.search = search }
    }

    /// How many bytes checksums are computed of for each place tried, and for the first ones together.
    private static let allowance = 32
    private static let firstAllowance = 65_536
    /// A chain over fewer bytes than this is not kept, but followed again when more bytes are available.
    private static let shortChain = 1_024

    /// How many places from the beginning are tried although nothing ends there: a byte may be lost or
    /// inserted right before a frame.
    private static let nearPlaces = 8
    /// How many bits the end of a frame before a place is worth, if every frame has one.
    private static let afterEnd = 12.0
    /// The same if there is none.
    private static let notAfterEnd = -4.0
    /// If a first frame has less evidence than this, other frames are searched for inside it that join the same chain.
    private static let doubtful = 20.0
    private static let mostOthers = 512

    /// A search from a stream offset on.
    init(from begin: Int, choices: UInt32, triesOpening: Bool, explains: Bool) {
        (self.begin, self.choices, self.triesOpening, place) = (begin, choices, triesOpening, begin)
        self.explains = explains
    }

    /// Examines bytes that start at stream offset `origin`, from an index on.
    mutating func look(
        _ rule: SharedRule, _ bytes: RawSpan, from start: Int, origin: Int, followedBy following: Following
    ) -> Outcome {
        if triesOpening {
            switch tryOpening(rule, bytes, origin, following) {
            case .undecided(let until): return .undecided(from: begin - origin, until: until)
            case .holds: return .found(at: begin - origin, how: account(1), isOpening: true)
            case .broken: (triesOpening, chain) = (false, nil)
            }
        }
        switch rule.landmark {
        case .never: return .undecided(from: bytes.byteCount, until: 0)
        case .anywhere(let how): return .found(at: start, how: how, isOpening: false)
        case .at(let mark, let how):
            if let at = bytes.firstRange(of: mark, from: start) { return .found(at: at, how: how, isOpening: false) }
            return .undecided(from: max(start, bytes.byteCount - (mark.count - 1)), until: 0)
        case .after(let ends, isCertain: true):
            if let end = bytes.firstEnd(of: ends, from: start) {
                let how = explains ? "a delimiter of \(8 * end.count) bits before it" : ""
                return .found(at: end.upperBound, how: how, isOpening: false)
            }
            return .undecided(from: max(start, bytes.byteCount - (rule.longestEnd - 1)), until: 0)
        case .none, .after:
            let outcome = tryPlaces(rule, bytes, origin, following)
            guard case .undecided(let from, let until) = outcome, !rule.ends.isEmpty else { return outcome }
            // A frame's end may have begun before the place: those bytes are needed with the next ones.
            return .undecided(from: max(start, from - rule.longestEnd), until: until)
        }
    }

    private mutating func tryOpening(
        _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int, _ following: Following
    ) -> FrameChain.Progress {
        var chain =
            self.chain
            ?? FrameChain(
                at: begin, needed: Evidence.needed(places: 1), isOpening: true, isFirst: true, choices: choices)
        let progress = chain.extend(rule, bytes, origin: origin, followedBy: following)
        self.chain = chain
        return progress
    }

    private func account(_ places: Int) -> String {
        explains ? chain?.account(from: 0, places: places) ?? "" : ""
    }

    // MARK: Places

    private mutating func tryPlaces(
        _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int, _ following: Following
    ) -> Outcome {
        while true {
            var trial: FrameChain
            if let openChain {
                trial = openChain.chain
                self.openChain = nil
                // Once a long frame is whole, frames inside it come first, whether or not its chain had to wait for its end.
                if trial.stopsAtLong, let end = trial.longEnd, end - origin <= bytes.byteCount,
                    let better = inside.look(rule, bytes, origin: origin, inside: trial, to: end)
                {
                    return settle(better, rule, bytes, origin, following)
                }
            } else {
                guard let (known, places) = nextPlace(rule, bytes, origin, following) else {
                    return .undecided(from: min(place - origin, bytes.byteCount), until: 0)
                }
                trial = FrameChain(
                    at: place, needed: Evidence.needed(places: places), before: known, isFirst: place == begin,
                    choices: choices,
                    allowance: max(0, Self.firstAllowance + Self.allowance * (place - begin) - summed),
                    maySearchInside: rule.ends.isEmpty, isHopefulPlace: true)
            }
            switch trial.extend(rule, bytes, origin: origin, followedBy: following) {
            case .undecided(var until):
                if trial.stopsAtLong, let end = trial.longEnd {
                    if end - origin <= bytes.byteCount || following != .more {
                        openChain = OpenChain(trial)
                        continue
                    }
                    if let better = inside.look(rule, bytes, origin: origin, inside: trial, to: end) {
                        return settle(better, rule, bytes, origin, following)
                    }
                    until = min(until, SearchInside.nextLook(inside: trial, origin + bytes.byteCount))
                }
                let isShort = rule.ends.isEmpty && origin + bytes.byteCount - place < Self.shortChain
                chain = isShort ? nil : trial
                return .undecided(from: place - origin, until: until)
            case .holds: return settle(trial, rule, bytes, origin, following)
            case .broken:
                summed += trial.summed
                place += 1
                isAfterEnd = nil
            }
        }
    }

    /// Advances to the next place worth trying.
    ///
    /// - Returns: its known evidence, in bits, and how many places were tried including it; nil if more bytes are needed.
    private mutating func nextPlace(
        _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int, _ following: Following
    ) -> (known: Double, places: Int)? {
        if rule.ends.isEmpty {
            // Later places need more.
            let needed =
                following == .more
                ? NeededEvidence(exempt: begin - origin)
                : NeededEvidence(exempt: begin - origin, ofLong: Evidence.needed(places: place - begin + 1))
            guard let index = rule.firstHopeful(bytes, from: place - origin, needed: needed) else {
                place = max(place, origin + bytes.byteCount)
                return nil
            }
            place = origin + index
            return (0, place - begin + 1)
        }
        while place - origin < bytes.byteCount {
            let isEnd = isAfterEnd ?? endsFrame(rule, bytes, origin)
            let isNear = place - begin < Self.nearPlaces
            if isEnd || isNear {
                tried += 1
                let index = place - origin
                if rule.firstBytes.contains(bytes[byte: index]), rule.mayStart(bytes, at: index) {
                    return (isEnd ? Self.afterEnd : place == begin ? 0 : Self.notAfterEnd, tried)
                }
                place += 1
                isAfterEnd = nil
                continue
            }
            // An end may have begun before the place.
            let from = max(begin, place - (rule.longestEnd - 1)) - origin
            var end = bytes.firstEnd(of: rule.ends, from: from)
            while let found = end, found.upperBound <= place - origin {
                end = bytes.firstEnd(of: rule.ends, from: found.lowerBound + 1)
            }
            guard let end else {
                let kept = max(place, origin + bytes.byteCount - (rule.longestEnd - 1))
                place = kept
                return nil
            }
            place = origin + end.upperBound
            isAfterEnd = true
        }
        return nil
    }

    /// Whether the bytes before the place end a frame.
    private func endsFrame(_ rule: SharedRule, _ bytes: RawSpan, _ origin: Int) -> Bool {
        bytes.ends(with: rule.ends, before: place - origin, from: begin - origin)
    }

    // MARK: Where the chain starts

    /// Finds where exactly the chain of frames starts: an earlier place may happen to lead into it.
    private func settle(
        _ chain: FrameChain, _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int, _ following: Following
    ) -> Outcome {
        var places = rule.ends.isEmpty ? chain.start - begin + 1 : tried
        var chain = chain
        if let better = other(than: chain, rule, bytes, origin, following) {
            places += better.start - chain.start
            chain = better
        }
        var (start, least) = (0, Evidence.neededBefore(places: places))
        // Frames chain from the first byte on: the first then needs little evidence of its own.
        var sum = chain.start == begin ? Evidence.whole : 0
        // If a checksum is right, the format has the right algorithm, and wrong ones before it are those of no frames.
        let verified = chain.heads.firstIndex { $0.isRight == true } ?? 0
        for head in chain.heads.indices.dropLast() {
            sum += chain.heads[head].evidence.bits
            let isWrong = head < verified && chain.heads[head].isRight == false
            if sum < least || isWrong { (start, least) = (head + 1, sum) }
        }
        let how = explains ? chain.account(from: start, places: places) : ""
        return .found(at: chain.heads[start].offset - origin, how: how, isOpening: false)
    }

    /// A chain that starts inside the first frame of another one, joins it, and has more evidence up to that point.
    private func other(
        than chain: FrameChain, _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int, _ following: Following
    ) -> FrameChain? {
        guard chain.heads.count > 1, chain.heads[0].evidence.bits < Self.doubtful, let last = chain.heads.last else {
            return nil
        }
        // Only bytes available when the last head was reached count, however many are available now.
        let known = bytes.extracting(0..<last.offset - origin)
        var sums: [Int: Double] = [:]
        var sum = 0.0
        for head in chain.heads {
            sums[head.offset] = sum
            sum += head.evidence.bits
        }
        var best: FrameChain?
        var margin = 0.0
        let end = min(chain.heads[1].offset, chain.start + Self.mostOthers)
        var index = chain.start + 1 - origin
        while let start = rule.firstHopeful(known, from: index), origin + start < end {
            index = start + 1
            if !rule.ends.isEmpty, !known.ends(with: rule.ends, before: start, from: chain.start - origin) { continue }
            // Each place may be one of a head that reaches over many bytes: few of them are summed.
            var trial = FrameChain(
                at: origin + start, needed: .infinity, choices: choices, allowance: SearchInside.allowance,
                isHopefulPlace: true)
            _ = trial.extend(rule, known, origin: origin, followedBy: .more)
            var own = 0.0
            for place in trial.heads.map(\.offset) + [trial.at] {
                if let theirs = sums[place], own - theirs > margin { (best, margin) = (trial, own - theirs) }
                if sums[place] != nil { break }
                own += trial.heads.first { $0.offset == place }?.evidence.bits ?? 0
            }
        }
        guard var best else { return nil }
        best.join(chain)
        return best
    }
}

extension FrameChain {
    /// Continues like another chain from where the two join.
    mutating func join(_ other: FrameChain) {
        let offsets = Set(other.heads.map(\.offset))
        let own = heads.prefix { !offsets.contains($0.offset) }
        let place = heads.dropFirst(own.count).first?.offset ?? at
        adopt(Array(own) + other.heads.filter { $0.offset >= place })
    }
}

extension RawSpan {
    /// The byte string that ends first at or after `start`, the longest of those that end there.
    func firstEnd(of ends: [[UInt8]], from start: Int) -> Range<Int>? {
        var best: Range<Int>?
        // The shortest first, which come last: where a line ends in LF, nothing after that is searched for CR LF.
        for end in ends.reversed() {
            let known = extracting(0..<(best?.upperBound ?? byteCount))
            guard let at = known.firstRange(of: end, from: start) else { continue }
            let range = at..<at + end.count
            if let best, best.upperBound < range.upperBound { continue }
            if best?.upperBound != range.upperBound || range.count > (best?.count ?? 0) { best = range }
        }
        return best
    }

    /// Whether one of several byte strings, which begins at `least` or later, ends right before an index.
    func ends(with ends: [[UInt8]], before index: Int, from least: Int) -> Bool {
        ends.contains { end in
            index - least >= end.count && extracting(index - end.count..<index).elementsEqual(end.span.bytes)
        }
    }
}
