import Streams

/// A run of packets of other shares (`CaptureShare`), which a parser passes over: with many threads, most packets are. Of each, a few
/// fields at fixed offsets are read. They change nothing but counts and the time, which advances with the next packet that is received,
/// such as the one that reaches a deadline.
package struct PassedPackets {
    /// How many there are.
    package private(set) var count = 0
    /// How many bytes of them were captured.
    private(set) var byteCount = 0
    /// When the last one was captured.
    private(set) var time = Timestamp(nanoseconds: .min)
    /// The latest of their times.
    private(set) var latest = Timestamp(nanoseconds: .min)

    /// Where a file has a packet of Ethernet.
    package struct Record {
        /// Where the packet begins.
        var start: Int
        /// How many bytes of it were captured.
        var captured: Int
        /// When.
        var time: Timestamp
        /// Where the next record begins.
        var end: Int
    }

    /// Passes over a run that is known.
    @inline(__always)
    init(_ run: ForeignRuns.Run) {
        (count, byteCount) = (run.count, run.byteCount)
        (time, latest) = (run.time, run.time)
    }

    /// Passes over packets, until one has to be received, or something else is next.
    ///
    /// - Parameters:
    ///   - window: bytes of a capture file.
    ///   - at: where the next record begins, before and after.
    ///   - share: what is received.
    ///   - quietUntil: until when the receiver's time may advance in one step.
    ///   - record: the record that begins at an offset; nil if it is another one, is damaged, or is not whole in the window.
    @inline(__always)
    init(
        in window: RawSpan, from at: inout Int, exceptOf share: CaptureShare, quietUntil: () -> Timestamp,
        record: (_ at: Int) -> Record?
    ) {
        var end = Timestamp(nanoseconds: .min)
        while let record = record(at),
            let common = CommonPacket(in: window, at: record.start, byteCount: record.captured),
            !share.contains(common.source, common.destination)
        {
            if record.time >= end {
                end = quietUntil()
                guard record.time < end else { return }
            }
            count &+= 1
            byteCount &+= record.captured
            time = record.time
            latest = max(latest, time)
            at = record.end
        }
    }
}
