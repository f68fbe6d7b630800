import Framing
import Streams

/// The counts of a whole trace.
public struct Summary: Hashable, Sendable {
    /// The counts of one format's connections, or of those without.
    public struct Totals: Hashable, Sendable {
        /// Connections.
        public var connections = 0
        /// The classification of the bytes, both directions together.
        public var bytes = ByteCounts()
        /// Frames that spanned more than one chunk.
        public var split = 0
        /// Frames that shared a chunk with other bytes.
        public var merged = 0
        /// Heartbeats.
        public var heartbeats = 0
        /// Findings by kind.
        public var findings: [Finding.Kind: Int] = [:]

        /// Counts nothing.
        public init() {}

        /// Adds other counts.
        public mutating func add(_ other: Totals) {
            connections += other.connections
            bytes.add(other.bytes)
            split += other.split
            merged += other.merged
            heartbeats += other.heartbeats
            findings.merge(other.findings, uniquingKeysWith: +)
        }
    }

    /// The counts by format name; nil is for connections whose format was not recognized.
    public var formats: [String?: Totals] = [:]
    /// What the proxy passed on, of connections whose bytes it may change on their way; nil if there are none. All else counts
    /// what both sides sent.
    public var passedOn: Totals?
    /// Bytes that were forwarded but not recorded.
    public var dropped = 0
    /// Connections that opened and closed while the recorder was too slow; they are not counted elsewhere.
    public var unrecorded = 0
    /// Packets that were skipped, by reason.
    public var skipped: [(kind: String, packets: Int)] = []

    /// Counts nothing.
    public init() {}

    /// All formats together.
    public var total: Totals {
        formats.values.reduce(into: Totals()) { $0.add($1) }
    }

    /// Whether two summaries count the same.
    public static func == (left: Summary, right: Summary) -> Bool {
        left.formats == right.formats && left.dropped == right.dropped && left.unrecorded == right.unrecorded
            && left.passedOn == right.passedOn && left.skipped.elementsEqual(right.skipped, by: ==)
    }

    /// Hashes the counts.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(formats)
        hasher.combine(dropped)
    }
}

extension ByteCounts {
    /// Adds other counts.
    public mutating func add(_ other: ByteCounts) {
        framed += other.framed
        unframed += other.unframed
        padding += other.padding
        missing += other.missing
        frames += other.frames
    }
}
