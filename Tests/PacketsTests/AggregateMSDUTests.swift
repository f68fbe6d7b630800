import Packets
import Streams
import TestSupport
import Testing

/// Several packets in one Wi-Fi frame.
@Suite struct AggregateMSDUTests {
    /// An IEEE 802.11 frame with packets as subframes.
    static func frame(_ packets: [[UInt8]]) -> [UInt8] {
        var aggregate: [UInt8] = []
        for packet in packets {
            aggregate += [UInt8](repeating: 0, count: -aggregate.count & 3)
            aggregate += big(0, 12) + big(8 + packet.count, 2) + [0xaa, 0xaa, 3, 0, 0, 0, 8, 0] + packet
        }
        return [0x88, 0x02] + big(0, 22) + [0x80, 0] + aggregate
    }

    /// Frames with packets of several connections, and of UDP; and what these are.
    struct Traffic {
        var file = PcapFile(linkType: 105)
        var sent: [Int: [UInt8]] = [:]
        var others = 0
        var segments = 0

        init(_ generator: inout SeededGenerator, frames: Int = 30) {
            for time in 0..<frames {
                let packets = (0..<Int.random(in: 1...4, using: &generator)).map { _ in packet(&generator) }
                // Some have a frame check sequence.
                let end = generator.bytes(Bool.random(using: &generator) ? 4 : 0)
                file.add(AggregateMSDUTests.frame(packets) + end, at: time)
            }
        }

        private mutating func packet(_ generator: inout SeededGenerator) -> [UInt8] {
            let payload = generator.bytes(.random(in: 1...30, using: &generator))
            let connection = Int.random(in: 0...3, using: &generator)
            if connection == 3 {
                others += 1
                return Headers.ipv4(Headers.udp(payload, to: 53), protocol: 17)
            }
            let before = sent[connection, default: []]
            sent[connection] = before + payload
            segments += 1
            return Headers.ipv4(
                Headers.tcp(payload, from: 40_000 + connection, sequence: UInt32(1 + before.count)))
        }
    }

    @Test func everySubframeIsRead() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            let traffic = Traffic(&generator)
            let (log, counters) = events(of: traffic.file.bytes)
            var received: [Int: [UInt8]] = [:]
            for case .opened(let opening) in log.events {
                received[Int(opening.client.port) - 40_000] = log.bytes(of: opening.number, from: .fromClient)
            }
            #expect(received == traffic.sent, "seed \(seed)")
            #expect(counters.segments == traffic.segments && counters.packets == 30, "seed \(seed)")
            #expect(counters.skipped == (traffic.others > 0 ? [.udp: traffic.others] : [:]), "seed \(seed)")
        }
    }

    /// Indexes and shards have them for each of their connections, as far as a packet can be in one place.
    @Test func indexesAndShardsHaveThem() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<20 {
            let file = Traffic(&generator).file.bytes
            let whole = stories(of: [file])
            let index = IndexedCapture(file)
            for ends in Set(index.connections.map(\.ends)) {
                let selection = ConnectionSelection(ends: [ends])
                let part = stories(
                    of: [index.part(of: selection)], selection: selection, until: index.end?.times?.upperBound)
                #expect(part == stories(of: [file], selection: selection) && !part.isEmpty, "seed \(seed)")
            }
            #expect(Set(index.connections.map(\.ends)).count == whole.count, "seed \(seed)")
            let sharded = ShardedCaptures([file], into: 5)
            #expect(sharded.packets().joined().count == 30, "seed \(seed)")
            #expect(stories(of: sharded.shards) == whole, "seed \(seed)")
        }
    }
}
