/// What a decoder has seen, for summaries.
public struct CaptureCounters: Sendable, Hashable {
    /// Packets.
    public internal(set) var packets = 0
    /// Captured bytes of them.
    public internal(set) var bytes = 0
    /// TCP segments.
    public internal(set) var segments = 0
    /// Packets that gave no TCP segment, by the reason; what occurred.
    public internal(set) var skipped: [Skipped: Int] = [:]
    /// IP datagrams given up, because of time or limits.
    public internal(set) var abandonedDatagrams = 0

    /// Nothing seen yet.
    public init() {}
}
