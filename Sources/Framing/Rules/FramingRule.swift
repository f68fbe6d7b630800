import Streams

/// How to determine where a frame ends: one rule of the format language.
///
/// A rule is a pure reader of bytes. It keeps no state between calls except in `ScanMemory`, and its results depend on the
/// stream's bytes alone, never on their segmentation. `Framer` does the rest: buffering, gaps, limits and accounting are the same
/// for every rule.
package protocol FramingRule: Sendable {
    /// The rule's name in format files.
    static var name: String { get }

    /// Scans the frame that starts at `start`.
    ///
    /// - Parameters:
    ///   - bytes: the stream's bytes from stream offset `origin` on, as far as available.
    ///   - start: where in `bytes` the frame starts; less than `bytes.byteCount`.
    ///   - origin: the stream offset of the first of `bytes`.
    ///   - ended: whether the stream ends with these bytes.
    ///   - memory: what the rule remembers of this direction, to avoid scanning the same bytes twice.
    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan

    /// Fast path: consecutive frames that lie whole in `bytes` from `start` on, as many as the rule finds cheaply, with the same
    /// results as `scan`. Rules without a fast path find none.
    ///
    /// - Parameter patterns: what was learned of the heads of other frames, of whatever stream.
    /// - Returns: the end of the last one.
    func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, _ patterns: HeadPatterns,
        into items: inout [FrameItem]
    ) -> FrameRun

    /// How a number at a fixed place determines where frames end, if nothing else does but constants: then frames can be counted without `scan`.
    var plainLengths: PlainLengths? { get }

    /// How many of the bytes after an incomplete frame can neither end it nor show that it is none: a quick check, since a format
    /// on trial is asked for nearly every byte.
    ///
    /// - Parameters:
    ///   - next: the bytes that follow.
    ///   - count: how many bytes of the frame there are.
    func inert(_ next: RawSpan, after count: Int) -> Int

    /// Where frames may start, as far as that is known for all of them.
    var landmark: Landmark { get }

    /// The bytes that frames may start with.
    var firstBytes: ByteSet { get }

    /// The bytes that may come second in a frame, if it has two: with `firstBytes`, a search passes most places by them.
    var secondBytes: ByteSet { get }

    /// Whether the first frames of a stream are unlike the rest, so that a place must be tried as one of them, too.
    var hasOpening: Bool { get }

    /// Whether a frame may start at a place of the bytes: a quick check, since a search tries nearly all places in vain. A place
    /// ruled out here is ruled out by `scan` or `evidence` as well, though perhaps only once more bytes are available.
    func mayStart(_ bytes: RawSpan, at start: Int) -> Bool

    /// Whether the head of a frame at a place of the bytes certainly has less evidence than it needs: a quick check, since most places
    /// of other data are like that.
    func fallsShort(_ bytes: RawSpan, at start: Int, of needed: NeededEvidence) -> Bool

    /// The first place at or after an index that may start a frame, as far as these quick checks can tell. Optional to implement: it is
    /// here so that each rule has code of its own for it. Called through the protocol for each place, they would copy the rule.
    ///
    /// - Parameters: as for `SharedRule.firstHopeful`, and the sets `firstBytes` and `secondBytes`.
    func firstHopeful(
        _ bytes: RawSpan, from start: Int, _ firstBytes: ByteSet, _ secondBytes: ByteSet, needed: NeededEvidence?
    ) -> Int?

    /// The most frames that may be in bytes whose context is not known; nil if only framing them shows it.
    func wholeFrames(in bytes: RawSpan) -> WholeFrames?

    /// The evidence for a frame; nil if it cannot be one after all.
    ///
    /// - Parameters:
    ///   - shape: the result of `scan`. Its head lies within the bytes, its body need not.
    ///   - previous: the frame before it in a chain of frames.
    func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence?

    /// The evidence of a frame's end, given that all of it is available; nil if the frame cannot end this way.
    func closingEvidence(of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground)
        -> Evidence?

    /// The checksums of a frame that are evidence for it once all of it is available; nil if there are none.
    func checksums(of shape: FrameShape) -> SearchedChecksums?

    /// Whether `checksums` may return anything.
    var hasChecksums: Bool { get }

    /// What is wrong with the bytes after the body of a whole frame; nil: nothing. If anything is, there is no frame.
    func endFault(of frame: RawSpan, _ shape: FrameShape) -> String?

    /// Whether `endFault` may return anything.
    var checksEnds: Bool { get }

    /// Whether the ends of frames are found wherever a frame starts: one that starts later need not be searched again.
    var searchesAnywhere: Bool { get }

    /// Human-readable: how much of the frame at the start of the bytes is available, as in `15 of 88 head bytes`.
    func progress(_ bytes: RawSpan, shape: FrameShape?) -> String

    /// Writes the lengths that the rule reads into the head of a frame being built.
    func fillIn(_ parts: inout FrameParts) throws(EncodingError)

    /// The bytes of a frame of these parts, with the delimiters and escapes that the rule adds.
    func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8]

    /// A frame's content, if it differs from its bytes (escapes resolved); otherwise nil.
    ///
    /// - Returns: the bytes without what the rule adds, and their parts.
    func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)?

    /// Whether `content` may return anything.
    var transforms: Bool { get }

    /// Additional information about a frame, as fields: which of several delimiters ended it.
    func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field]

    /// The names of the fields of `notes`; the encoder accepts them.
    var noted: [String] { get }

    /// Whether the frames depend on the stream's segmentation: for the rule `chunk` only.
    var dependsOnCutting: Bool { get }

    /// How many of the bytes at a frame's start prove that one starts there; nil if only its extent does.
    func proof(_ bytes: RawSpan) -> Int?

    /// Whether `proof` may return anything.
    var hasProof: Bool { get }

    /// The rule as part of a conversation, if frames depend on the other direction's; otherwise nil.
    func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)?

    /// The values of the request that a frame answers on which it may depend where it ends.
    var requestPaths: [[String]] { get }

    /// Whether it remembers more of a stream than `ScanMemory` holds, so that each stream needs a rule of its own.
    var remembersWalks: Bool { get }

    /// Whether a frame, given its content, leaves the request that it belongs to without an answer (HTTP's 100 Continue).
    func isInterim(_ content: RawSpan, _ shape: FrameShape) -> Bool

    /// How long a pause of its sender ends a frame; nil if pauses are ignored.
    var idle: Interval? { get }
}

extension FramingRule {
    /// Other bytes do.
    package var plainLengths: PlainLengths? { nil }

    /// None.
    package func inert(_ next: RawSpan, after count: Int) -> Int { 0 }

    /// Anywhere.
    package var landmark: Landmark { .none }

    /// Any.
    package var firstBytes: ByteSet { .all }

    /// Any.
    package var secondBytes: ByteSet { .all }

    /// They are not.
    package var hasOpening: Bool { false }

    /// It may.
    package func mayStart(_ bytes: RawSpan, at start: Int) -> Bool { true }

    /// That is not known.
    package func fallsShort(_ bytes: RawSpan, at start: Int, of needed: NeededEvidence) -> Bool { false }

    /// Only framing shows it.
    package func wholeFrames(in bytes: RawSpan) -> WholeFrames? { nil }

    /// Nothing.
    package func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? { Evidence() }

    /// Nothing.
    package func closingEvidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground
    ) -> Evidence? { Evidence() }

    /// None.
    package func checksums(of shape: FrameShape) -> SearchedChecksums? { nil }

    /// It does not.
    package var hasChecksums: Bool { false }

    /// Nothing.
    package func endFault(of frame: RawSpan, _ shape: FrameShape) -> String? { nil }

    /// It does not.
    package var checksEnds: Bool { false }

    /// They are not.
    package var searchesAnywhere: Bool { false }

    /// None: `scan` finds each.
    package func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, _ patterns: HeadPatterns,
        into items: inout [FrameItem]
    ) -> FrameRun { FrameRun(end: start) }

    /// Most rules read no lengths.
    package func fillIn(_ parts: inout FrameParts) throws(EncodingError) {}

    /// The parts, one after the other.
    package func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        parts.head + parts.body + parts.trailer
    }

    /// Most frames' content is their bytes.
    package func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? { nil }

    /// They do.
    package var transforms: Bool { false }

    /// Nothing else.
    package func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field] { [] }

    /// Nothing.
    package var noted: [String] { [] }

    /// No other rule's frames do.
    package var dependsOnCutting: Bool { false }

    /// Nothing but the extent.
    package func proof(_ bytes: RawSpan) -> Int? { nil }

    /// It does not.
    package var hasProof: Bool { false }

    /// Most rules' frames depend on nothing else.
    package func bound(to conversation: Conversation, _ direction: Direction) -> (any FramingRule)? { nil }

    /// None.
    package var requestPaths: [[String]] { [] }

    /// It does not.
    package var remembersWalks: Bool { false }

    /// It answers it.
    package func isInterim(_ content: RawSpan, _ shape: FrameShape) -> Bool { false }

    /// Pauses mean nothing.
    package var idle: Interval? { nil }
}

/// The parts of a frame being built.
package struct FrameParts: Hashable, Sendable {
    /// The head's bytes.
    package var head: [UInt8]
    /// The body's bytes.
    package var body: [UInt8]
    /// The fields after the body.
    package var trailer: [UInt8]
    /// The values given for the frame's fields, for what a rule itself adds: which of several delimiters.
    package var given: [Field] = []

    /// The parts of a frame.
    package init(head: [UInt8], body: [UInt8], trailer: [UInt8] = []) {
        self.head = head
        self.body = body
        self.trailer = trailer
    }
}

/// The parts of a frame, in bytes.
public struct FrameShape: Hashable, Sendable {
    /// Bytes before the body: head, marker, opening delimiter.
    public var head: Int
    /// Bytes of the body.
    public var body: Int
    /// Bytes after the body: closing delimiter, checksum.
    public var tail: Int
    /// Which of the direction's layouts the frame has.
    @inlinable public var layout: Int {
        get { Int(layoutNumber) }
        set { layoutNumber = Int32(truncatingIfNeeded: newValue) }
    }
    @usableFromInline var layoutNumber: Int32 = 0
    // `.min` if there is none, to keep it small: every frame has one of these.
    @usableFromInline var recalledValue: Int32 = .min

    /// A value that earlier frames left, which this one shows; nil if there is none.
    package var recalled: Int32? {
        get { recalledValue == .min ? nil : recalledValue }
        set { recalledValue = newValue ?? .min }
    }

    /// The parts of a frame.
    @inlinable
    public init(head: Int, body: Int, tail: Int = 0) {
        self.head = head
        self.body = body
        self.tail = tail
    }

    /// All of it.
    @inlinable
    public var total: Int { head + body + tail }
}

/// The result of scanning the bytes at a frame's start.
package enum FrameScan: Sendable {
    /// The frame's extent is known, whether or not all of its bytes are available yet.
    case shape(FrameShape)
    /// The extent is not known yet; there is no need to scan again before this many bytes of the frame are available.
    case incomplete(atLeast: Int)
    /// Bytes that the format allows between frames.
    case padding(Int)
    /// No frame can start here.
    case bad(BadBytes)
}

/// Why no frame can start at a place.
package struct BadBytes: Sendable {
    /// The reason, from the fixed list.
    package var reason: UnframedReason
    /// Human-readable: what was found, and what was expected.
    package var detail: String
    /// How many bytes are known to be bad (a whole head); nil if only the first one is.
    package var byteCount: Int?
    /// Whether they end with what ends the rule's frames: the next one starts after them.
    package var areDelimited: Bool

    /// Why no frame can start at a place.
    ///
    /// - Parameter explains: whether there is any detail: see `ScanMemory`.
    package init(
        _ reason: UnframedReason, _ detail: @autoclosure () -> String, explains: Bool = true, byteCount: Int? = nil,
        areDelimited: Bool = false
    ) {
        self.reason = reason
        self.detail = explains ? detail() : ""
        (self.byteCount, self.areDelimited) = (byteCount, areDelimited)
    }

    /// The detail without the offset that it ends with.
    func detail(without offset: Int) -> String {
        for place in [" (head at offset \(offset))", " (frame at offset \(offset))", " at offset \(offset)"]
        where detail.hasSuffix(place) {
            return String(detail.dropLast(place.count))
        }
        return detail
    }
}

/// What a rule remembers of one direction between scans, as stream offsets, so that no byte is searched twice.
package struct ScanMemory: Sendable {
    /// No delimiter starts before this stream offset, other than at `delimiter`.
    package var searchedTo = 0
    /// The first delimiter at or after the current place, if known.
    package var delimiter: Int? {
        get { knownDelimiter < 0 ? nil : knownDelimiter }
        set { knownDelimiter = newValue ?? -1 }
    }
    // Negative if there is none, to keep it small: every stream has one of these.
    private var knownDelimiter = -1
    /// Nesting depth at `searchedTo`, for rules that count brackets.
    package var depth = 0
    /// Any other state of a rule at `searchedTo` (inside a string, after an escape).
    package var state: UInt8 = 0
    /// Whether faults are described. Nobody reads that while formats are on trial, or places in the search for a frame.
    package var explains = true
    /// Whether a search tries a place.
    var search = Search.none

    /// How a search tries a place.
    enum Search: Sendable {
        /// It does not: there should be a frame.
        case none
        /// For the first time: most places are ruled out by a quick check.
        case first
        /// Again, with more bytes.
        case again
    }

    /// Of several kinds of frames, the first that the bytes so far do not rule out, by its number; nil if none was tried, or the frame's
    /// kind is known. `searchedTo` and what goes with it belong to that kind.
    var kind: Int? {
        get { knownKind == 0 ? nil : Int(knownKind) - 1 }
        // Of later ones, nothing is remembered: their bytes are searched again.
        set { knownKind = newValue.flatMap { UInt8(exactly: $0 + 1) } ?? 0 }
    }
    private var knownKind: UInt8 = 0

    /// Which alternative was decided on, four bits per choice; 0 if none was.
    package var choices: UInt32 = 0
    /// The stream offset at which the frames unlike the rest end; nil if the stream was picked up after them.
    package var opening: Int? {
        get { knownOpening < 0 ? nil : knownOpening }
        set { knownOpening = newValue ?? -1 }
    }
    private var knownOpening = 0

    /// Nothing remembered.
    package init() {}

    /// Packs or unpacks all of it but what a search remembers.
    mutating func pass(through numbers: inout PackedNumbers) {
        numbers.pass(&searchedTo)
        numbers.pass(&knownDelimiter)
        numbers.pass(&depth)
        numbers.pass(&state)
        numbers.pass(&explains)
        numbers.pass(&choices)
        numbers.pass(&knownOpening)
    }

    /// Resets search positions; decisions are kept.
    mutating func forget() {
        (searchedTo, knownDelimiter, depth, state, knownKind) = (0, -1, 0, 0, 0)
    }

    /// Resets search positions where frames chain again; decisions are kept.
    ///
    /// - Parameter keepsSearch: whether what was searched need not be searched again for a frame that starts elsewhere.
    mutating func resume(at offset: Int, isOpening: Bool, keepsSearch: Bool) {
        let (decided, explained, searched) = (choices, explains, searchedTo)
        self = ScanMemory()
        if keepsSearch { searchedTo = searched }
        (choices, explains) = (decided, explained)
        opening = isOpening ? offset : nil
    }

    /// Resets search positions after a gap that ends at `offset`; decisions are kept.
    mutating func restart(at offset: Int) {
        let (decided, opened, explained) = (choices, opening, explains)
        self = ScanMemory()
        (choices, explains) = (decided, explained)
        opening = opened == offset ? nil : opened
        searchedTo = offset
    }
}

/// The fixed list of reasons why bytes belong to no frame.
public enum UnframedReason: String, Sendable, Hashable, CaseIterable {
    /// The stream ended, or a gap began, inside a frame.
    case incomplete
    /// No frame starts here, and synchronisation is lost.
    case noSync = "no-sync"
    /// The bytes where a head is expected are not one.
    case badHead = "bad-head"
    /// An impossible length.
    case badLength = "bad-length"
    /// A frame or head beyond its limit.
    case tooLong = "too-long"
    /// Skipped after a gap until frames chained again.
    case afterGap = "after-gap"
    /// No format was recognised.
    case notDetected = "not-detected"
    /// An incomplete frame that was discarded because the memory limit was reached.
    case memoryLimit = "memory-limit"
}
