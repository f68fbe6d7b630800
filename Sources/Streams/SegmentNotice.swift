/// A segment as it was captured in a pause: what its header reveals beside the bytes.
///
/// Where one side has sent no new bytes for `quietAfter`, the segments of both sides are reported, since they show what kept it from
/// sending: whether it is alive, whether something that it sent was lost, and when it was sent. While both sides send, nothing is
/// reported. A recording of the proxy's has reads instead of segments, and nothing is reported of it.
public struct SegmentNotice: Hashable, Sendable {
    /// After how long without new bytes of one side segments are reported.
    public static let quietAfter = Interval.milliseconds(50)

    /// Behind a pause of one side that is longer than this, all segments are reported for a while: they show how it ended.
    public static let longPause = Interval.milliseconds(1_000)
    /// How long.
    public static let afterLongPause = Interval.milliseconds(1_000)

    /// The stream offset that its sequence number stands for.
    public var offset: Int
    /// How many bytes of payload it had on the wire.
    public var byteCount: Int
    /// The stream offset that comes next, as far as its sender's bytes were seen.
    public var expected: Int
    /// Up to which offset of the other side's stream it acknowledges; nil without an acknowledgment.
    public var acknowledged: Int?
    /// When new bytes of its sender were captured last, out of order or not; before all time where there were none.
    public var lastBytes: Timestamp
    /// How many packets its sender sent between the segment before and this one that were not captured. It is known where the sender
    /// counts its packets in the IPv4 identification field (RFC 791 section 3.1), as Linux does; else nil.
    public var skippedPackets: Int?
    /// The sender's clock when it sent the segment, in ticks of its own (TSval, RFC 7323 section 3.2); nil without that option.
    public var clock: UInt32?

    /// A segment as it was captured.
    public init(
        offset: Int, byteCount: Int, expected: Int, acknowledged: Int? = nil, lastBytes: Timestamp,
        skippedPackets: Int? = nil, clock: UInt32? = nil
    ) {
        self.offset = offset
        self.byteCount = byteCount
        self.expected = expected
        self.acknowledged = acknowledged
        self.lastBytes = lastBytes
        self.skippedPackets = skippedPackets
        self.clock = clock
    }

    /// Whether bytes before it were sent that were not captured.
    public var isAhead: Bool { offset > expected }

    /// Whether it has only bytes that were captured before. A keep-alive, which repeats one byte at most (RFC 9293 section 3.8.4), is
    /// no repetition.
    public var isRepetition: Bool {
        byteCount > 0 && offset + byteCount <= expected && !(byteCount == 1 && offset == expected - 1)
    }

    /// Whether its sender had sent nothing, when it sent this, that was not captured before.
    public var isNext: Bool { offset == expected || (offset == expected - 1 && byteCount <= 1) }
}
