import Packets
import Pipeline
import Streams
import Synchronization
import Trace

/// The last packets of a recording, by connection: from them a capture of some connections is made while the proxy runs.
///
/// It is bounded: the oldest packets are evicted.
package final class PacketJournal: Sendable {
    private struct Packet {
        var connection: ConnectionLeg
        var time: Timestamp
        var bytes: [UInt8]
        var comment: String?

        var cost: Int { bytes.count + (comment?.utf8.count ?? 0) + MemoryLayout<Packet>.stride }
    }

    private struct State {
        var packets: [Packet] = []
        /// How many of the first ones are evicted, and what the others take.
        var evicted = 0
        var cost = 0
        /// The connections of which packets were evicted.
        var incomplete: Set<Int> = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// An empty journal.
    ///
    /// - Parameter limit: at most how many bytes of memory its packets take.
    package init(limit: Int = 64 << 20) { self.limit = limit }

    /// Takes the next packet.
    func take(_ bytes: RawSpan, of connection: ConnectionLeg, at time: Timestamp, comment: String?) {
        let packet = Packet(connection: connection, time: time, bytes: bytes.copied(), comment: comment)
        state.withLock { state in
            state.packets.append(packet)
            state.cost += packet.cost
            while state.cost > limit, state.evicted < state.packets.count - 1 {
                let oldest = state.packets[state.evicted]
                state.cost -= oldest.cost
                state.incomplete.insert(oldest.connection.number)
                state.packets[state.evicted].bytes = []
                state.evicted += 1
            }
            if state.evicted > state.packets.count / 2, state.evicted > 1_000 {
                state.packets.removeFirst(state.evicted)
                state.evicted = 0
            }
        }
    }

    /// A capture of connections, as pcapng.
    ///
    /// - Parameter isWanted: whether a connection of this number is wanted.
    /// - Returns: the file, and whether packets of the connections are missing at its beginning.
    package func capture(tool: String, _ isWanted: (Int) -> Bool) -> (bytes: [UInt8], isComplete: Bool) {
        let (packets, incomplete) = state.withLock { state in
            (state.packets[state.evicted...].filter { isWanted($0.connection.number) }, state.incomplete)
        }
        let output = MemoryOutput()
        let start = packets.first?.time ?? WallClock.now()
        let record = CaptureRecord(
            to: output, tool: tool, interface: CaptureRecord.Interface(name: "proxy", linkType: .raw), start: start)
        for packet in packets {
            record.append(packet.bytes.span.bytes, of: packet.connection.leg, at: packet.time, comment: packet.comment)
        }
        record.finish(at: packets.last?.time ?? start)
        return (output.bytes, !incomplete.contains(where: isWanted))
    }
}
