/// What a decoder has seen, for summaries.
package struct CaptureCounters: Sendable, Hashable {
    /// Packets.
    package internal(set) var packets = 0
    /// Their captured bytes.
    package internal(set) var bytes = 0
    /// TCP segments.
    package internal(set) var segments = 0
    /// Packets without a TCP segment, by reason; only reasons that occurred.
    package internal(set) var skipped: [Skipped: Int] = [:]
    /// Of these, the packets of link types that are not read.
    package internal(set) var unreadLinkTypes: [LinkType: Int] = [:]
    /// IP datagrams abandoned because of a timeout or a limit.
    package internal(set) var abandonedDatagrams = 0

    /// Forgets why packets were skipped, except for those that were lost before they were captured.
    package mutating func keepLosses() {
        skipped = skipped.filter { $0.key == .droppedByInterface || $0.key == .droppedByKernel }
    }

    /// The skipped packets, the most frequent kind first.
    package var skippedByKind: [(kind: String, packets: Int)] {
        skipped.map { ($0.key.rawValue, $0.value) }.sorted { ($1.1, $0.0) < ($0.1, $1.0) }
    }

    /// Nothing seen yet.
    package init() {}
}
