import Packets
import Streams

/// The packets that a capture reports as missing.
struct ReportedDrops: PacketReceiver {
    /// Those that its packets report (`epb_dropcount`).
    var inPackets: UInt64 = 0
    /// Those of its statistics (`isb_ifdrop`, `isb_osdrop`).
    var statistics = CaptureDrops()

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        inPackets += packet.droppedBefore(in: options)
        return .taken
    }
    mutating func dropped(_ drops: CaptureDrops) { statistics = drops }
    mutating func captured(until time: Timestamp) {}
}
