import Streams

/// What follows the bytes at hand.
enum Following {
    /// More bytes may come.
    case more
    /// Bytes that are not seen: what is incomplete remains so.
    case gap
    /// Nothing: the stream has ended.
    case end
}

/// Frames that follow one another from a place on, and the evidence of their heads: collected until that is enough, until the
/// chain breaks, or until more bytes are needed.
struct FrameChain {
    /// How far a chain got.
    enum Progress {
        /// There is enough evidence.
        case holds
        /// There cannot be enough before the stream has reached this offset.
        case undecided(until: Int)
        /// Frames do not chain from this place.
        case broken
    }

    /// A head of the chain.
    struct Head {
        var offset: Int
        var evidence: Evidence
        /// Whether the frame's checksums are right; nil if they were not verified.
        var isRight: Bool?
    }

    /// A frame longer than this is accepted on its head alone, without waiting for the next one; in bytes.
    static let window = 65_536
    /// The same for a frame unlike the rest, which most places do not have, and which holds up all the others.
    static let openingWindow = 4_096
    /// A chain longer than this is abandoned.
    private static let longest = 4 * window
    private static let mostHeads = 256
    /// A run of at least this many zeros starts no frame.
    static let zeroRun = 256

    /// The stream offset where it starts.
    let start: Int
    /// How many bits are enough.
    let needed: Double
    let isOpening: Bool
    /// Whether it starts at the first byte of the stream, or after the gap.
    private let isFirst: Bool
    private(set) var heads: [Head] = []
    /// The stream offset after the last whole frame.
    private(set) var at: Int
    /// All evidence so far.
    private(set) var evidence = Evidence()

    private var memory = ScanMemory()
    /// The last head's frame, whose end was not checked.
    private var open: FrameShape?
    private var previous: (offset: Int, shape: FrameShape)?
    /// How many heads in a row were the same.
    private var repeats = 0
    /// How many bytes checksums may still be computed of, and how many they were.
    private var allowance: Int
    private(set) var summed = 0
    /// Whether it starts inside a frame that is waited for; then it does not wait for a long one itself.
    private let isInside: Bool
    /// Whether it stops at a long frame, even if all of it is available. A stream usually is picked up at the start of a frame, so
    /// the first chain stops only if its evidence is below 0.
    var stopsAtLong: Bool { maySearchInside && (!isFirst || evidence.bits < 0) }
    private let maySearchInside: Bool
    /// The place that the rule's quick check has not ruled out, and the one that was scanned last: with more bytes, the scan goes on where
    /// it had to stop, and the check would begin anew.
    private var hopefulPlace: Int?
    private var scannedPlace: Int?

    /// - Parameters:
    ///   - before: the evidence known of the place without examining it.
    ///   - choices: the readings of the stream decided on.
    ///   - isFirst: whether it starts at the first byte of the stream, or after the gap.
    ///   - allowance: how many bytes checksums may be computed of.
    ///   - isInside: whether it starts inside a frame that is waited for.
    ///   - maySearchInside: whether frames inside a long one are searched for while its end is waited for.
    ///   - isHopefulPlace: whether the rule's quick check was made for the place.
    init(
        at start: Int, needed: Double, before: Double = 0, isOpening: Bool = false, isFirst: Bool = false,
        choices: UInt32, allowance: Int = openingWindow, isInside: Bool = false, maySearchInside: Bool = false,
        isHopefulPlace: Bool = false
    ) {
        (self.start, self.needed, self.isOpening, self.isFirst, at) = (start, needed, isOpening, isFirst, start)
        (self.allowance, self.isInside, self.maySearchInside) = (allowance, isInside, maySearchInside)
        hopefulPlace = isHopefulPlace ? start : nil
        memory.choices = choices
        memory.explains = false
        memory.opening = isOpening ? start : nil
        evidence.constants = before
    }

    /// Examines the frames in the available bytes.
    mutating func extend(_ rule: SharedRule, _ bytes: RawSpan, origin: Int, followedBy following: Following) -> Progress
    {
        while true {
            if let open {
                let end = at + open.total
                guard end - origin <= bytes.byteCount else {
                    if following == .more { return .undecided(until: end) }
                    // Only a checksum was waited for.
                    return evidence.bits >= needed ? .holds : .broken
                }
                guard close(open, rule, bytes, origin) else { return .broken }
                if evidence.bits >= needed { return .holds }
            }
            let index = at - origin
            guard index < bytes.byteCount else {
                if following == .more { return .undecided(until: at + 1) }
                guard following == .end, let previous else { return .broken }
                add(lengths: Evidence.landing(previous.shape.total))
                if isFirst { evidence.lengths += Evidence.whole }
                return evidence.bits >= needed ? .holds : .broken
            }
            if heads.isEmpty, !isOpening {
                guard hopefulPlace == at || rule.mayStart(bytes, at: index) else { return .broken }
                hopefulPlace = at
                switch bytes.zeros(from: index, most: Self.zeroRun) {
                case Self.zeroRun: return .broken
                case bytes.byteCount - index where following == .more:
                    return .undecided(until: origin + bytes.byteCount + 1)
                default: break
                }
            }
            // However many bytes are available, a head counts only if this many of them determine the frame's extent.
            let known = min(bytes.byteCount, index + limit)
            let isLast = following == .end && known == bytes.byteCount
            memory.search = scannedPlace == at ? .again : .first
            scannedPlace = at
            let scan = rule.scan(
                bytes.extracting(0..<known), from: index, origin: origin, ended: isLast, memory: &memory)
            switch scan {
            case .padding(let count):
                at += count
                guard at - start < Self.longest else { return .broken }
            case .bad: return .broken
            case .incomplete(let atLeast):
                guard following == .more, known - index < limit else { return .broken }
                return .undecided(until: max(at + atLeast, origin + bytes.byteCount + 1))
            case .shape(let shape):
                guard take(shape, rule, bytes, origin) else { return .broken }
                let isSummed = checksums(of: shape, rule) != nil
                if evidence.bits >= needed, !isSummed, shape.total <= limit || !isOpening { return .holds }
                guard shape.total > 0, shape.total <= limit, isHopeful else { return .broken }
                open = shape
                if stopsAtLong, let longEnd { return .undecided(until: longEnd) }
            }
        }
    }

    private var limit: Int {
        isInside || isOpening && heads.count <= 1 ? Self.openingWindow : Self.window
    }

    /// Where the frame in progress ends, if it is so long that others are looked for inside it.
    var longEnd: Int? { open.flatMap { $0.total > Self.openingWindow ? at + $0.total : nil } }

    /// The checksums of a frame that are verified once all of it is available; nil if there are none, or too many bytes to sum.
    private func checksums(of shape: FrameShape, _ rule: SharedRule) -> SearchedChecksums? {
        guard rule.hasChecksums, shape.total <= min(allowance, Self.openingWindow) else { return nil }
        return rule.rule.checksums(of: shape)
    }

    /// Whether the evidence may still become enough: evidence that does not grow with the heads is noise.
    private var isHopeful: Bool {
        heads.count < Self.mostHeads && at - start < Self.longest
            && evidence.bits > 0.5 * Double(heads.count - 1) - 4
    }

    /// Adds a head's evidence; false if no frame can start with it.
    private mutating func take(_ shape: FrameShape, _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int) -> Bool {
        let index = at - origin
        let head = index..<index + shape.head
        guard head.upperBound <= bytes.byteCount else { return false }
        var before: (start: Int, shape: FrameShape)?
        if let previous, previous.shape.layout == shape.layout {
            before = (previous.offset - origin, previous.shape)
        }
        let background = ByteBackground(
            of: bytes.extracting(max(start - origin, head.upperBound - 64)..<head.upperBound))
        guard
            var found = rule.rule.evidence(of: shape, in: bytes, at: index, previous: before, background)
        else { return false }
        // A head in a run of one byte value would fit anywhere in it.
        let isRun =
            BinaryHead.isRun(bytes, head)
            || head.count > Self.zeroRun && BinaryHead.isRun(bytes, index..<index + Self.zeroRun)
        if isRun { found = Evidence() }
        if let before, before.shape.head == shape.head, shape.head > 0,
            bytes.extracting(before.start..<before.start + shape.head).elementsEqual(bytes.extracting(head))
        {
            // Other data repeats, too: a repetition of the first head is not new evidence.
            repeats += 1
            found.lengths /= Double(repeats + 1)
            found.values /= Double(repeats + 1)
        } else {
            repeats = 0
        }
        // There is no point in starting at a head without evidence, unless its end may be some, or the stream starts there.
        let isHopeless = found.bits < 0 || found.bits == 0 && !rule.checksEnds && !rule.hasChecksums
        if heads.isEmpty, isRun || isHopeless && !isFirst { return false }
        heads.append(Head(offset: at, evidence: found))
        evidence += found
        previous = (at, shape)
        return true
    }

    /// Checks a whole frame's end.
    private mutating func close(_ shape: FrameShape, _ rule: SharedRule, _ bytes: RawSpan, _ origin: Int) -> Bool {
        let index = at - origin
        let end = index + shape.total
        let background = ByteBackground(of: bytes.extracting(max(start - origin, end - 64)..<end))
        guard var found = rule.rule.closingEvidence(of: shape, in: bytes, at: index, background) else { return false }
        if let checksums = checksums(of: shape, rule) {
            allowance -= shape.total
            summed += shape.total
            let verified = checksums.verify(bytes.extracting(index..<end), shape, background)
            // The same frame again has the same checksum.
            found.constants += verified.bits > 0 ? verified.bits / Double(repeats + 1) : verified.bits
            heads[heads.count - 1].isRight = verified.areRight
        }
        evidence += found
        heads[heads.count - 1].evidence += found
        open = nil
        at += shape.total
        return true
    }

    private mutating func add(lengths bits: Double) {
        evidence.lengths += bits
        heads[heads.count - 1].evidence.lengths += bits
    }

    /// Replaces the heads and their evidence.
    mutating func adopt(_ heads: [Head]) {
        self.heads = heads
        evidence = heads.reduce(Evidence()) { $0 + $1.evidence }
    }

    /// Human-readable: how certain it is that frames chain from one of the heads on.
    ///
    /// - Parameter places: how many places were tried.
    func account(from head: Int, places: Int) -> String {
        var sum = heads[head...].reduce(Evidence()) { $0 + $1.evidence }
        if head == 0 { sum = evidence }
        func whole(_ bits: Double) -> Int { Int(bits.rounded()) }
        let count = heads.count - head
        let odds = max(0, whole(sum.bits - Evidence.needed(places: places) + 8))
        return "\(count == 1 ? "1 head" : "\(count) heads in a row"), \(whole(sum.bits)) bits of evidence"
            + " (constants \(whole(sum.constants)), lengths \(whole(sum.lengths)), values \(whole(sum.values))),"
            + " \(places == 1 ? "1 place" : "\(places) places") tried: odds of a false match 1 in 2^\(odds)"
    }
}
