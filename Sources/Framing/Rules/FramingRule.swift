import Streams

/// How to tell where a frame ends: one rule of the format language.
///
/// A rule is a pure reader of bytes. It keeps nothing between calls but what it puts into `ScanMemory`, and what it
/// answers depends on the stream's bytes alone, never on how they were cut. `Framer` does the rest: buffering, gaps,
/// limits and accounting are the same for every rule.
public protocol FramingRule: Sendable {
    /// The rule's name in format files.
    static var name: String { get }

    /// What the frame that starts at `start` is.
    ///
    /// - Parameters:
    ///   - bytes: the stream's bytes from stream offset `origin` on, as far as they are known.
    ///   - start: where in `bytes` the frame starts; less than `bytes.byteCount`.
    ///   - origin: the stream offset of the first of `bytes`.
    ///   - ended: whether the stream ends with these bytes.
    ///   - memory: what the rule remembers of this direction, so as not to look at the same bytes twice.
    func scan(_ bytes: RawSpan, from start: Int, origin: Int, ended: Bool, memory: inout ScanMemory) -> FrameScan

    /// Frames that lie whole in `bytes` and follow one another from `start` on, as many as the rule finds without much ado;
    /// what `scan` would say of each. For rules that are quicker so: others find none.
    ///
    /// - Returns: where the last of them ends.
    func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun

    /// Where frames may start, as far as that can be said of all of them.
    var landmark: Landmark { get }

    /// The bytes that frames may start with.
    var firstBytes: ByteSet { get }

    /// Whether the first frames of a stream are unlike the rest, so that a place has to be tried as one of them, too.
    var hasOpening: Bool { get }

    /// Whether a frame may start at a place of the bytes: a quick look, for a search looks nearly everywhere in vain. What
    /// is ruled out here, `scan` or `evidence` rules out as well, if not before more bytes are there.
    func mayStart(_ bytes: RawSpan, at start: Int) -> Bool

    /// What a frame says for itself; nil where it cannot be one after all.
    ///
    /// - Parameters:
    ///   - shape: what `scan` said of it. Its head lies within the bytes, its body need not.
    ///   - previous: the frame before it in a chain of frames.
    func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence?

    /// What a frame's end says for itself, given that all of it is there; nil where the frame cannot end so.
    func closingEvidence(of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground)
        -> Evidence?

    /// For people: how far the frame that starts the bytes got, as in `15 of 88 head bytes`.
    func progress(_ bytes: RawSpan, shape: FrameShape?) -> String

    /// Writes the lengths that the rule reads into the head of a frame that is being built.
    func fillIn(_ parts: inout FrameParts) throws(EncodingError)

    /// The bytes of a frame of these parts, with the delimiters and escapes that the rule adds.
    func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8]

    /// What a frame's bytes stand for, where that is not the bytes themselves (escapes resolved); else nil.
    ///
    /// - Returns: the bytes without what the rule adds, and their parts.
    func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)?

    /// Whether `content` may return anything.
    var transforms: Bool { get }

    /// What else is worth telling of a frame, as fields: which of several delimiters ended it.
    func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field]

    /// What the fields of `notes` are called; the encoder understands them.
    var noted: [String] { get }

    /// Whether the frames hang on how the stream was cut: for the rule `chunk` only.
    var dependsOnCutting: Bool { get }

    /// How many of the bytes at a frame's start prove that one starts there; nil where only its extent does.
    func proof(_ bytes: RawSpan) -> Int?

    /// After how long a pause of its sender a frame is over; nil where pauses mean nothing.
    var idle: Interval? { get }
}

extension FramingRule {
    /// Anywhere.
    public var landmark: Landmark { .none }

    /// Any.
    public var firstBytes: ByteSet { .all }

    /// They are not.
    public var hasOpening: Bool { false }

    /// It may.
    public func mayStart(_ bytes: RawSpan, at start: Int) -> Bool { true }

    /// Nothing.
    public func evidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, previous: (start: Int, shape: FrameShape)?,
        _ background: ByteBackground
    ) -> Evidence? { Evidence() }

    /// Nothing.
    public func closingEvidence(
        of shape: FrameShape, in bytes: RawSpan, at start: Int, _ background: ByteBackground
    ) -> Evidence? { Evidence() }

    /// None: `scan` finds each.
    public func frames(
        in bytes: RawSpan, from start: Int, origin: Int, memory: inout ScanMemory, into items: inout [FrameItem]
    ) -> FrameRun { FrameRun(end: start) }

    /// Most rules read no lengths.
    public func fillIn(_ parts: inout FrameParts) throws(EncodingError) {}

    /// The parts, one behind the other.
    public func encode(_ parts: FrameParts) throws(EncodingError) -> [UInt8] {
        parts.head + parts.body + parts.trailer
    }

    /// Most frames' bytes stand for themselves.
    public func content(of frame: RawSpan, _ shape: FrameShape) -> (bytes: [UInt8], shape: FrameShape)? { nil }

    /// They do.
    public var transforms: Bool { false }

    /// Nothing else.
    public func notes(of frame: RawSpan, _ shape: FrameShape) -> [Field] { [] }

    /// Nothing.
    public var noted: [String] { [] }

    /// No other rule's frames do.
    public var dependsOnCutting: Bool { false }

    /// Nothing but the extent.
    public func proof(_ bytes: RawSpan) -> Int? { nil }

    /// Pauses mean nothing.
    public var idle: Interval? { nil }
}

/// The parts of a frame that is being built.
public struct FrameParts: Hashable, Sendable {
    /// The head's bytes.
    public var head: [UInt8]
    /// The body's bytes.
    public var body: [UInt8]
    /// The fields behind the body.
    public var trailer: [UInt8]
    /// What was given for the frame's fields, for what a rule itself adds: which of several delimiters.
    public var given: [Field] = []

    /// The parts of a frame.
    public init(head: [UInt8], body: [UInt8], trailer: [UInt8] = []) {
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
    /// Bytes behind the body: closing delimiter, checksum.
    public var tail: Int
    /// Which of the direction's layouts the frame has.
    public var layout = 0

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

/// What a rule makes of the bytes at a frame's start.
public enum FrameScan: Sendable {
    /// The frame's extent is known, whether or not all of its bytes are there yet.
    case shape(FrameShape)
    /// The extent is not known yet; there is no need to ask again before so many bytes of the frame are there.
    case incomplete(atLeast: Int)
    /// Bytes that the format allows between frames.
    case padding(Int)
    /// No frame can start here.
    case bad(BadBytes)
}

/// Why no frame can start at a place.
public struct BadBytes: Sendable {
    /// The reason, from the fixed list.
    public var reason: UnframedReason
    /// For people: what was found, and what was expected.
    public var detail: String
    /// How many bytes are bad for certain (a whole head); nil where only the first one is.
    public var byteCount: Int?

    /// Why no frame can start at a place.
    public init(_ reason: UnframedReason, _ detail: String, byteCount: Int? = nil) {
        self.reason = reason
        self.detail = detail
        self.byteCount = byteCount
    }
}

/// What a rule remembers of one direction between two looks, as stream offsets, so that no byte is searched twice.
public struct ScanMemory: Sendable {
    /// No delimiter starts before this stream offset, other than at `delimiter`.
    public var searchedTo = 0
    /// The first delimiter at or behind the place looked at, where one is known.
    public var delimiter: Int? {
        get { knownDelimiter < 0 ? nil : knownDelimiter }
        set { knownDelimiter = newValue ?? -1 }
    }
    // Places of which there may be none are negative then: of each stream one of these is kept.
    private var knownDelimiter = -1
    /// Nesting depth at `searchedTo`, for rules that count brackets.
    public var depth = 0
    /// Whatever else a rule has to remember at `searchedTo` (inside a string, behind an escape).
    public var state: UInt8 = 0

    /// Which alternative was decided on, four bits for each choice there is; 0 where none was.
    public var choices: UInt32 = 0
    /// The stream offset at which the frames unlike the rest end; nil where the stream was picked up behind them.
    public var opening: Int? {
        get { knownOpening < 0 ? nil : knownOpening }
        set { knownOpening = newValue ?? -1 }
    }
    private var knownOpening = 0

    /// Nothing remembered.
    public init() {}

    /// Forgets where searches stand, where frames chain again; what was decided stays.
    mutating func resume(at offset: Int, isOpening: Bool) {
        let decided = choices
        self = ScanMemory()
        choices = decided
        opening = isOpening ? offset : nil
    }

    /// Forgets where searches stand, behind a gap that ends at `offset`; what was decided stays.
    mutating func restart(at offset: Int) {
        let (decided, opened) = (choices, opening)
        self = ScanMemory()
        choices = decided
        opening = opened == offset ? nil : opened
        searchedTo = offset
    }
}

/// The fixed list of reasons for which bytes belong to no frame.
public enum UnframedReason: String, Sendable, Hashable, CaseIterable {
    /// The stream ended, or a gap began, inside a frame.
    case incomplete
    /// No frame starts here, and the last place where one did is lost.
    case noSync = "no-sync"
    /// What should be a head is not one.
    case badHead = "bad-head"
    /// A length that cannot be.
    case badLength = "bad-length"
    /// A frame or head beyond its limit.
    case tooLong = "too-long"
    /// Passed over behind a gap until frames chained again.
    case afterGap = "after-gap"
    /// No format was recognised.
    case notDetected = "not-detected"
    /// A frame under way that was given up, since the memory limit was reached.
    case memoryLimit = "memory-limit"
}
