import Streams

/// Which copy of a byte counts where segments overlap with different bytes.
public enum OverlapPolicy: String, Sendable, Hashable, CaseIterable {
    /// The first that was captured.
    case first
    /// The last that was captured before the byte was passed on.
    case last
}

/// Limits and choices of TCP reassembly.
public struct ReassemblyOptions: Sendable, Hashable {
    /// How many bytes of one direction are held behind a gap at most; then the gap is declared missing.
    public var reorderingLimit = 4 << 20
    /// How many segments of one direction are held at most, so that tiny ones do not cost many times their size.
    public var reorderingSegmentLimit = 1 << 17
    /// How much memory all held segments together may take.
    public var totalReorderingLimit = 256 << 20
    /// How long a gap that the other side acknowledged past may still be filled, in capture time.
    public var gapGrace = Interval(nanoseconds: 1_000_000_000)
    /// How many packets of the connection it may still be filled for.
    public var gapGracePackets: UInt32 = 100
    /// How long the first segments of a direction picked up mid-stream wait for earlier ones; or `gapGracePackets`.
    public var pickupGrace = Interval(nanoseconds: 1_000_000_000)
    /// How long after an RST what was under way may still arrive.
    public var resetGrace = Interval(nanoseconds: 1_000_000_000)
    /// How long a closed connection is remembered, so that its late segments do not open another.
    public var closedMemory = Interval(nanoseconds: 120_000_000_000)
    /// How many closed connections are remembered at most.
    public var closedLimit = 1 << 16
    /// Which copy of a byte counts.
    public var overlap = OverlapPolicy.first
    /// How many bytes of each direction are kept after they were passed on, so that a later copy with different bytes is
    /// told as a conflict. 0: only copies of what waits behind a gap are compared, and nothing is copied on the common path.
    public var conflictHistory = 0
    /// How many bytes are kept for that in all.
    public var totalConflictHistory = 64 << 20
    /// After how long without a packet, in capture time, a connection is let go: what waits in it is given up, and only its
    /// number and its place in the streams are kept, in case it speaks again. 0: never.
    public var idleTimeout = Interval(nanoseconds: 3_600_000_000_000)
    /// How many connections that were let go are remembered; the first of them are then closed for good (`timeout`).
    public var idleLimit = 1 << 16
    /// How many connections may be open at once; then those that have been silent for long are closed (`evicted`).
    public var connectionLimit = 1 << 20
    /// Whether packets whose IPv4 header or TCP checksum is wrong are passed over. Off, because captures made behind
    /// checksum offload have wrong ones in all that the host sent. A packet that was cut off cannot be checked, and is taken.
    public var verifiesChecksums = false
    /// Ports of servers, beside those below 1024: for telling which end of a connection is the client where no SYN does.
    public var serverPorts: Set<UInt16> = []
    /// Whether receivers want to hear of every SYN and acknowledgment (`ConnectionReceiver.noticed`). What is seldom, they
    /// hear of anyway.
    public var notices = true
    /// Which of the connections are taken; nil: all.
    public var share: CaptureShare?

    /// The defaults.
    public init() {}

    /// Sets reassembly's part of a limit of memory: a quarter of it for segments that wait behind gaps, and an eighth for what is
    /// kept to find conflicts.
    public mutating func limitMemory(to bytes: Int) {
        totalReorderingLimit = bytes / 4
        totalConflictHistory = min(totalConflictHistory, bytes / 8)
    }
}
