import Framing
import Streams
import Trace

/// TCP's own round trips: from SYN to SYN and ACK, and from bytes to their acknowledgment, as seen at the point of capture.
///
/// One byte position of each side is timed at once; retransmissions are excluded (Karn's algorithm, RFC 6298 section 3), since it
/// is ambiguous which copy was acknowledged.
package final class TCPRoundTrips: WireAnalysis {
    /// The round trip to one side.
    package struct Times: Sendable {
        /// From SYN to SYN and ACK; nil if the handshake was not seen, or its SYN was retransmitted.
        package var handshake: Interval?
        /// From bytes to their acknowledgment, by the sender of the bytes.
        package var acknowledgments = PerDirection(fromClient: RoundTripTimes(), fromServer: RoundTripTimes())
    }

    private final class Timing {
        var times = Times()
        var offsets = PerDirection(fromClient: 0, fromServer: 0)
        var timed: PerDirection<(end: Int, time: Timestamp)?> = PerDirection(fromClient: nil, fromServer: nil)
        var hasSYN = false
        var hasSentAgain = false
    }

    private var timings: [Int: Timing] = [:]
    private let most: Int

    /// At most how many connections are timed: the first ones.
    package init(most: Int) {
        self.most = most
    }

    /// The round trips of a connection.
    package func times(of connection: Int) -> Times? { timings[connection]?.times }

    /// All of them.
    package var wantsPackets: Bool { true }

    private func timing(_ connection: TracedConnection) -> Timing? {
        if let known = timings[connection.number] { return known }
        guard timings.count < most else { return nil }
        let timing = Timing()
        timings[connection.number] = timing
        return timing
    }

    /// Begins to time the last of some bytes, unless others are being timed.
    package func captured(_ byteCount: Int, isMissing: Bool, _ packet: NoticedPacket, on connection: TracedConnection) {
        guard let timing = timing(connection) else { return }
        timing.offsets[packet.direction] += byteCount
        if isMissing {
            timing.timed[packet.direction] = nil
        } else if timing.timed[packet.direction] == nil {
            timing.timed[packet.direction] = (timing.offsets[packet.direction], packet.time)
        }
    }

    /// Takes acknowledgments and retransmissions.
    package func noticed(
        _ notice: StreamNotice, _ packet: NoticedPacket, on connection: TracedConnection, into findings: inout [Finding]
    ) {
        guard let timing = timing(connection) else { return }
        let direction = packet.direction
        switch notice {
        case .synchronised where direction == .fromClient:
            // The first opened the connection.
            if timing.hasSYN, packet.time > connection.opening.time { timing.hasSentAgain = true }
            timing.hasSYN = true
        case .synchronised:
            if timing.times.handshake == nil, timing.hasSYN, !timing.hasSentAgain {
                timing.times.handshake = packet.time - connection.opening.time
            }
        case .acknowledged(let offset):
            if let timed = timing.timed[direction.opposite], offset >= timed.end {
                timing.times.acknowledgments[direction.opposite].add(packet.time - timed.time)
                timing.timed[direction.opposite] = nil
            }
        case .retransmitted(let offset, _):
            if let timed = timing.timed[direction], offset < timed.end { timing.timed[direction] = nil }
        case .overtaken: timing.timed[direction] = nil
        default: return
        }
    }
}
