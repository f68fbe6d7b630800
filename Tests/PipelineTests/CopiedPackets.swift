import Packets
import Streams

/// Passes on each IPv4 packet once for each of this many pairs of hosts.
struct CopiedPackets: PacketReceiver, ~Copyable {
    var receiver: CaptureDecoder
    private let pairs: Int

    init(to receiver: consuming CaptureDecoder, pairs: Int) {
        self.receiver = receiver
        self.pairs = pairs
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        var copy = bytes.copied()
        let header = packet.linkType == .ethernet ? 14 : 0
        for pair in 0..<pairs {
            // The third byte of both addresses.
            (copy[header + 14], copy[header + 18]) = (UInt8(pair), UInt8(pair))
            _ = receiver.receive(packet, bytes: copy.span.bytes, options: options)
        }
        return .taken
    }

    mutating func captured(until time: Timestamp) { receiver.captured(until: time) }
}
