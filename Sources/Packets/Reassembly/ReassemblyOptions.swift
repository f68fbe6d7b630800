import Streams

/// Which copy of a byte wins where segments overlap with different bytes.
package enum OverlapPolicy: String, Sendable, Hashable, CaseIterable {
    /// The first that was captured.
    case first
    /// The last that was captured before the byte was passed on.
    case last
}

/// Limits and choices of TCP reassembly.
package struct ReassemblyOptions: Sendable, Hashable {
    /// At most how many bytes of one direction are held after a gap; then the gap is declared missing.
    package var reorderingLimit = 4 << 20
    /// At most how many segments of one direction are held, so that tiny ones do not cost many times their size.
    package var reorderingSegmentLimit = 1 << 17
    /// How much memory all held segments together may take.
    package var totalReorderingLimit = 256 << 20
    /// How long a gap that the other side acknowledged past may still be filled, in capture time.
    package var gapGrace = Interval(nanoseconds: 1_000_000_000)
    /// How many packets of the connection it may still be filled for.
    package var gapGracePackets: UInt32 = 100
    /// How long the first segments of a direction picked up mid-stream wait for earlier ones, unless `gapGracePackets` is reached
    /// first.
    package var pickupGrace = Interval(nanoseconds: 1_000_000_000)
    /// How long after a RST segments in flight may still arrive.
    package var resetGrace = Interval(nanoseconds: 1_000_000_000)
    /// How long a closed connection is remembered, so that its late segments do not open another.
    package var closedMemory = Interval(nanoseconds: 120_000_000_000)
    /// At most how many closed connections are remembered.
    package var closedLimit = 1 << 16
    /// In how many directions gaps that were declared missing are remembered, in case their bytes arrive late.
    package var lostLimit = 1 << 16
    /// Which copy of a byte wins.
    package var overlap = OverlapPolicy.first
    /// How many bytes of each direction are kept after they were passed on, so that a later copy with different bytes is reported
    /// as a conflict. 0: only copies of what waits behind a gap are compared, and nothing is copied on the fast path.
    package var conflictHistory = 0
    /// How many bytes are kept for that in all.
    package var totalConflictHistory = 64 << 20
    /// After how long without a packet, in capture time, a connection is idle: its gaps are declared missing, and only its
    /// number, its position in the streams and what is missing are kept, in case it resumes. 0: never.
    package var idleTimeout = Self.usualIdleTimeout
    /// How many idle connections are remembered; beyond that, the oldest are closed permanently (`timeout`).
    package var idleLimit = 1 << 16
    /// How many connections may be open at once; beyond that, those that have long been silent are closed (`evicted`).
    package var connectionLimit = 1 << 20
    /// How many connections stay ready for the next segment although nothing happens; others are packed. It changes no result.
    package var awakeLimit = AwakeConnections.usualLimit
    /// Whether packets whose IPv4 header or TCP checksum is wrong are skipped. Off by default, because with checksum offload all
    /// packets that the capturing host sent have wrong ones. A truncated packet cannot be checked, and is accepted.
    package var verifiesChecksums = false
    /// Ports of servers, in addition to those below 1024: to determine which end of a connection is the client if no SYN does.
    package var serverPorts: Set<UInt16> = []
    /// Whether receivers are notified of every SYN and acknowledgment (`ConnectionReceiver.noticed`). Rare events are always
    /// reported.
    package var notices = true
    /// Which of the connections are taken; nil: all.
    package var share: CaptureShare?
    /// Which connections are taken by their ends; nil: all.
    package var selection: ConnectionSelection?

    /// The defaults.
    package init() {}

    /// Keeps a history for conflicts where the time that comparing takes does not matter: of captures up to 64 MiB.
    ///
    /// - Parameter captureSize: how many bytes the captures have; 0 for pipes.
    package mutating func keepConflictHistory(captureSize: Int) {
        conflictHistory = captureSize <= 64 << 20 ? 64 << 10 : 0
    }

    /// The default of `idleTimeout`: an hour.
    static let usualIdleTimeout = Interval(nanoseconds: 3_600_000_000_000)

    /// Sets reassembly's share of a memory limit: a quarter for segments that wait behind gaps, and an eighth for the history
    /// kept to find conflicts.
    package mutating func limitMemory(to bytes: Int) {
        totalReorderingLimit = bytes / 4
        totalConflictHistory = min(totalConflictHistory, bytes / 8)
    }
}
