import Framing

/// The counts of a whole trace.
public struct SummaryEvent: Hashable, Sendable {
    /// Something that was counted.
    public struct Count: Hashable, Sendable {
        /// What.
        public var kind: String
        /// How often.
        public var count: Int
    }

    /// Connections.
    public var connections = 0
    /// The classification of the bytes, both directions together, and the frames.
    public var bytes = ByteCounts()
    /// The same of what the proxy passed on, where it may change bytes on their way; nil if it could not.
    public var passedOn: ByteCounts?
    /// Bytes that were forwarded but not recorded.
    public var dropped = 0
    /// Frames that spanned more than one chunk.
    public var split = 0
    /// Frames that shared a chunk with other bytes.
    public var merged = 0
    /// Heartbeats.
    public var heartbeats = 0
    /// Findings, by kind.
    public var findings: [Count] = []
    /// Connections that opened and closed unrecorded.
    public var unrecorded = 0
    /// Packets that were not decoded, by reason.
    public var skipped: [Count] = []
    /// How many lines of the trace could not be written.
    public var unwritten = 0

    /// Counts nothing.
    package init() {}

    /// The counts of a decoder.
    package init(_ summary: Summary) {
        let total = summary.total
        (connections, bytes, dropped) = (total.connections, total.bytes, summary.dropped)
        passedOn = summary.passedOn?.bytes
        (split, merged, heartbeats) = (total.split, total.merged, total.heartbeats)
        findings = total.findings.map { Count(kind: $0.key.rawValue, count: $0.value) }.sorted { $0.kind < $1.kind }
        unrecorded = summary.unrecorded
        skipped = summary.skipped.map { Count(kind: $0.kind, count: $0.packets) }
    }
}
