import Streams

/// The search for frames inside a long frame whose head alone is not evidence enough, so that its end is waited for: a false one would
/// hold up all frames for as long.
///
/// It tries each place once, however many long frames contain it, and demands more evidence there. Whether frames are found depends
/// on the bytes before the long frame's end alone, so not on the segmentation.
struct SearchInside {
    /// How much more evidence frames inside another one need, in bits.
    private static let margin = 8.0
    /// Bytes are examined once this many are there, counted from the start of the outer chain, and once the long frame is whole.
    private static let step = 256
    /// How many bytes of one chain checksums are computed of.
    static let allowance = 256

    /// The stream offset where the search around it began.
    let begin: Int
    let choices: UInt32
    /// The next place to try, and the undecided chain there.
    private var place = 0
    private var chain: FrameChain?
    /// The stream offset up to which bytes were examined.
    private var examined = 0

    init(begin: Int, choices: UInt32) { (self.begin, self.choices) = (begin, choices) }

    /// The stream offset that must be reached for another look.
    static func nextLook(inside outer: FrameChain, _ reached: Int) -> Int { lastLook(inside: outer, reached) + step }

    private static func lastLook(inside outer: FrameChain, _ reached: Int) -> Int {
        outer.start + (reached - outer.start) / step * step
    }

    /// How much evidence the next place needs, in bits.
    private var needed: Double { Evidence.needed(places: place - begin + 1) + Self.margin }

    /// Finds frames that chain inside the long frame of another chain.
    ///
    /// - Parameter end: the stream offset where that frame ends.
    mutating func look(
        _ rule: SharedRule, _ bytes: RawSpan, origin: Int, inside outer: FrameChain, to end: Int
    ) -> FrameChain? {
        let available = origin + bytes.byteCount
        let reached = end <= available ? end : Self.lastLook(inside: outer, available)
        let known = bytes.extracting(0..<reached - origin)
        if place <= outer.start { (place, chain, examined) = (outer.start + 1, nil, 0) }
        guard reached > examined else { return nil }
        examined = reached
        while true {
            var trial: FrameChain
            if let chain {
                trial = chain
                self.chain = nil
            } else {
                // Later places need more.
                guard place < reached,
                    let index = rule.firstHopeful(
                        known, from: place - origin,
                        needed: NeededEvidence(ofLong: needed, longest: FrameChain.openingWindow))
                else { break }
                place = origin + index
                trial = FrameChain(
                    at: place, needed: needed, choices: choices, allowance: Self.allowance, isInside: true,
                    isHopefulPlace: true)
            }
            switch trial.extend(rule, known, origin: origin, followedBy: .more) {
            case .holds: return trial
            case .undecided:
                chain = trial
                return nil
            case .broken: place += 1
            }
        }
        place = max(place, reached)
        return nil
    }
}
