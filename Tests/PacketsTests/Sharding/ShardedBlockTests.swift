import Packets
import Streams
import Testing

/// What shards have besides packets: secrets, names, options, losses, and until when they were captured.
@Suite struct ShardedBlockTests {
    /// Everything that a capture has.
    struct Log: PacketReceiver {
        var keyLogs: [[UInt8]] = []
        var bodies: [CaptureBlock.Kind: [[UInt8]]] = [:]
        var drops = CaptureDrops()
        var end: Timestamp?
        var options: [[UInt8]] = []
        var losses: [UInt64] = []

        static var readsNames: Bool { true }

        mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
            self.options.append(options.copied())
            losses.append(packet.droppedBefore(in: options))
            return .taken
        }
        mutating func learned(keyLog: RawSpan) { keyLogs.append(keyLog.copied()) }
        mutating func passed(_ block: CaptureBlock, body: RawSpan) {
            bodies[block.kind, default: []].append(body.copied())
        }
        mutating func dropped(_ drops: CaptureDrops) {
            self.drops.byInterface += drops.byInterface
            self.drops.bySystem += drops.bySystem
        }
        mutating func captured(until time: Timestamp) { end = time }

        init(_ file: [UInt8]) {
            var reader = CaptureReader(PieceSource(file, sizes: [1 << 20]))
            do { try reader.read(to: &self) } catch { Issue.record("\(error)") }
        }
    }

    /// A block with a key log.
    static func secrets(_ text: String, kind: Int, to file: inout PcapngFile) {
        file.block(10) {
            $0.u32(kind)
            $0.u32(text.utf8.count)
            $0.bytes += Array(text.utf8) + [UInt8](repeating: 0, count: -text.utf8.count & 3)
        }
    }

    @Test(arguments: [false, true])
    func secretsAndNamesAreInEveryShard(isBigEndian: Bool) {
        var file = PcapngFile(isBigEndian: isBigEndian)
        file.interface()
        Self.secrets("CLIENT_RANDOM 1\n", kind: 0x544c_534b, to: &file)
        Self.secrets("other", kind: 0x5747_4b4c, to: &file)
        file.block(4) {
            $0.u16(1)
            $0.u16(7)
            $0.bytes += [10, 0, 0, 1, 0x61, 0x62, 0, 0]
            $0.u32(0)
        }
        file.packet(Headers.ethernet([], type: 0x0806), at: 7)
        let shards = ShardedCaptures([file.file.bytes], into: 3).shards.map { Log($0) }
        for shard in shards {
            #expect(shard.keyLogs == [Array("CLIENT_RANDOM 1\n".utf8)])
            #expect(shard.bodies[.secrets]?.count == 2)
            #expect(shard.bodies[.names] == [[1, 0, 7, 0, 10, 0, 0, 1, 0x61, 0x62, 0, 0, 0, 0, 0, 0]])
            // Nothing was seen after the last packet.
            #expect(shard.end == Timestamp(nanoseconds: 7_000))
        }
    }

    @Test(arguments: [false, true])
    func optionsAreKept(isBigEndian: Bool) {
        var file = PcapngFile(isBigEndian: isBigEndian)
        file.interface()
        file.block(6) {
            $0.u32(0)
            $0.u64(0)
            $0.u32(1)
            $0.u32(1)
            $0.bytes += [7, 0, 0, 0]
            $0.u16(1)
            $0.u16(5)
            $0.bytes += Array("frame".utf8) + [0, 0, 0]
            $0.u16(2)
            $0.u16(4)
            $0.u32(0x0102_0304)
            $0.u16(4)
            $0.u16(8)
            $0.u64(258)
            $0.u32(0)
        }
        let log = Log(ShardedCaptures([file.file.bytes], into: 1).shards[0])
        #expect(log.losses == [258])
        let kept: [UInt8] = [
            1, 0, 5, 0, 0x66, 0x72, 0x61, 0x6d, 0x65, 0, 0, 0, 2, 0, 4, 0, 4, 3, 2, 1, 4, 0, 8, 0, 2, 1, 0, 0, 0, 0, 0,
            0,
        ]
        #expect(log.options.first.map { Array($0.prefix(kept.count)) } == kept)
    }

    @Test func lossesAreCountedOnceAndTheEndIsKept() {
        var file = PcapngFile()
        file.interface(options: [(9, [3])])
        file.packet(Headers.ethernet([], type: 0x0806), at: 5_000)
        file.block(5) {
            $0.u32(0)
            $0.u64(0)
            for (code, high, low) in [(3, 0, 9_000), (5, 3, 0), (7, 4, 0)] {
                $0.u16(code)
                $0.u16(8)
                $0.u32(high)
                $0.u32(low)
            }
            $0.u32(0)
        }
        var other = PcapngFile()
        other.interface(options: [(9, [9])])
        other.statistics(end: 9_000_000_001)
        let shards = ShardedCaptures([file.file.bytes, other.file.bytes], into: 3).shards.map { Log($0) }
        #expect(shards.map(\.drops.byInterface) == [3, 0, 0])
        #expect(shards.map(\.drops.bySystem) == [4, 0, 0])
        #expect(shards.allSatisfy { $0.end == Timestamp(nanoseconds: 9_000_000_001) })
    }

    @Test func anEmptyCaptureGivesEmptyShards() {
        let sharded = ShardedCaptures([PcapFile().bytes], into: 2)
        #expect(sharded.failures.isEmpty && sharded.packets() == [[], []])
    }
}
