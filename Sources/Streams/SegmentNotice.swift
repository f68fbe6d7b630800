/// A segment captured during a pause: what its header reveals in addition to the bytes.
///
/// When one side has sent no new bytes for `quietAfter`, the segments of both sides are reported, since they show what kept it
/// from sending: whether it is alive, whether something it sent was lost, and when it was sent. While both sides send, nothing is
/// reported. Nothing is reported for a recording of the proxy either: it has reads instead of segments.
package struct SegmentNotice: Hashable, Sendable {
    /// How long one side must have sent no new bytes before segments are reported.
    package static let quietAfter = Interval.milliseconds(50)

    /// After a pause of one side longer than this, all segments are reported for a while: they show how it ended.
    package static let longPause = Interval.milliseconds(1_000)
    /// How long they are.
    package static let afterLongPause = Interval.milliseconds(1_000)

    /// The stream offset of its sequence number.
    package var offset: Int
    /// How many bytes of payload it had on the wire.
    package var byteCount: Int
    /// The next expected stream offset, as far as its sender's bytes were seen.
    package var expected: Int
    /// The offset in the other side's stream up to which it acknowledges; nil without an acknowledgment.
    package var acknowledged: Int?
    /// The offset in its sender's stream up to which the other side had acknowledged before it; nil if the capture has no
    /// acknowledgment of any of these bytes.
    package var acknowledgedBefore: Int?
    /// When new bytes of its sender were last captured, in order or not; the minimum if there were none.
    package var lastBytes: Timestamp
    /// How many packets its sender sent between the previous segment and this one that were not captured. Known if the sender
    /// counts its packets in the IPv4 identification field (RFC 791 section 3.1), as Linux does; otherwise nil.
    package var skippedPackets: Int?
    /// The sender's clock when it sent the segment, in the sender's ticks (TSval, RFC 7323 section 3.2); nil without that option.
    package var clock: UInt32?

    /// A captured segment.
    package init(
        offset: Int, byteCount: Int, expected: Int, acknowledged: Int? = nil, acknowledgedBefore: Int? = nil,
        lastBytes: Timestamp, skippedPackets: Int? = nil, clock: UInt32? = nil
    ) {
        self.offset = offset
        self.byteCount = byteCount
        self.expected = expected
        self.acknowledged = acknowledged
        self.acknowledgedBefore = acknowledgedBefore
        self.lastBytes = lastBytes
        self.skippedPackets = skippedPackets
        self.clock = clock
    }

    /// Whether bytes sent before it were not captured.
    package var isAhead: Bool { offset > expected }

    /// Whether it has only bytes that were captured before. A keep-alive, which repeats at most one byte (RFC 9293 section
    /// 3.8.4), does not count.
    package var isRepetition: Bool {
        byteCount > 0 && offset + byteCount <= expected && !(byteCount == 1 && offset == expected - 1)
    }

    /// Whether all bytes that its sender had sent before this segment had been captured.
    package var isNext: Bool { offset == expected || (offset == expected - 1 && byteCount <= 1) }
}
