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
        /// Whether it is the first one of its connection, or leg.
        var isFirst: Bool

        var cost: Int { bytes.count + (comment?.utf8.count ?? 0) + MemoryLayout<Packet>.stride }
    }

    private struct State {
        var packets: [Packet] = []
        /// How many of the first ones are evicted, and what the others take.
        var evicted = 0
        var cost = 0
        /// The highest number of a connection of which packets were evicted.
        var lastEvicted = 0
    }

    private let limit: Int
    private let state = Mutex(State())

    /// An empty journal.
    ///
    /// - Parameter limit: at most how many bytes of memory its packets take.
    package init(limit: Int = 64 << 20) { self.limit = limit }

    /// Takes the next packet.
    ///
    /// - Parameter isFirst: whether it is the first one of its connection, or leg.
    func take(
        _ bytes: RawSpan, of connection: ConnectionLeg, at time: Timestamp, comment: String?, isFirst: Bool
    ) {
        let packet = Packet(
            connection: connection, time: time, bytes: bytes.copied(), comment: comment, isFirst: isFirst)
        state.withLock { state in
            state.packets.append(packet)
            state.cost += packet.cost
            while state.cost > limit, state.evicted < state.packets.count - 1 {
                let oldest = state.packets[state.evicted]
                state.cost -= oldest.cost
                state.lastEvicted = max(state.lastEvicted, oldest.connection.number)
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
    /// - Parameter connections: their numbers.
    /// - Returns: the file, and whether it has all of their packets so far.
    package func capture(tool: String, of connections: Set<Int>) -> (bytes: [UInt8], isComplete: Bool) {
        let (packets, lastEvicted) = state.withLock { state in
            (state.packets[state.evicted...].filter { connections.contains($0.connection.number) }, state.lastEvicted)
        }
        let output = MemoryOutput()
        let start = packets.first?.time ?? WallClock.now()
        let record = CaptureRecord(
            to: output, tool: tool, interface: CaptureRecord.Interface(name: "proxy", linkType: .raw), start: start)
        for packet in packets {
            record.append(packet.bytes.span.bytes, of: packet.connection.leg, at: packet.time, comment: packet.comment)
        }
        record.finish(at: packets.last?.time ?? start)
        // A connection of which nothing is kept was evicted, or has not been recorded yet.
        var seen: Set<ConnectionLeg> = []
        let hasBeginnings = packets.allSatisfy { !seen.insert($0.connection).inserted || $0.isFirst }
        let isEvicted = connections.subtracting(seen.map(\.number)).contains { $0 <= lastEvicted }
        return (output.bytes, hasBeginnings && !isEvicted)
    }
}
