import Packets
import Streams
import Testing

/// Captures are split into shards that have every packet once, and all packets of a connection together.
@Suite struct ShardTests {
    @Test(arguments: 0..<60)
    func everyPacketIsInOneShardAsItWas(seed: Int) throws {
        var random = SeededRandom(seed: UInt64(seed))
        let files = RandomTraffic(&random).files(&random, count: Int.random(in: 1...3, using: &random))
        let sharded = ShardedCaptures(
            files, into: Int.random(in: 1...9, using: &random), sizes: [Int.random(in: 1...5000, using: &random)])
        #expect(sharded.failures.isEmpty)
        var found: [PacketOrigin: ReadPacket] = [:]
        for packet in sharded.packets().joined() {
            let origin = try #require(packet.origin, "seed \(seed)")
            #expect(found.updateValue(packet, forKey: origin) == nil, "\(origin) twice, seed \(seed)")
        }
        for (index, file) in files.enumerated() {
            for packet in read(file).log.packets {
                let origin = try #require(PacketOrigin(comment: "frametap packet \(packet.info.number) of \(index)"))
                let held = found.removeValue(forKey: origin)
                let kept = try #require(held, "\(origin) is lost, seed \(seed)")
                #expect(kept.bytes == packet.bytes && kept.info.time == packet.info.time, "seed \(seed)")
                #expect(kept.info.originalLength == packet.info.originalLength, "seed \(seed)")
                #expect(kept.info.linkType == packet.info.linkType, "seed \(seed)")
                #expect(kept.comments.dropLast() == packet.comments[...], "seed \(seed)")
            }
        }
        #expect(found.isEmpty, "seed \(seed)")
        #expect(sharded.counts.map(\.packets) == sharded.packets().map(\.count), "seed \(seed)")
    }

    /// Each shard by itself, and all of them together, tell what the captures tell.
    @Test(arguments: 0..<60)
    func connectionsAreWholeInTheirShards(seed: Int) {
        var random = SeededRandom(seed: UInt64(1_000 + seed))
        let files = RandomTraffic(&random).files(&random, count: Int.random(in: 1...3, using: &random))
        let whole = stories(of: files)
        #expect(whole.count == 7, "seed \(seed)")
        for count in [1, 2, 7] {
            let sharded = ShardedCaptures(files, into: count)
            #expect(stories(of: sharded.shards) == whole, "\(count) shards, seed \(seed)")
            var told: [String: [String]] = [:]
            for shard in sharded.shards {
                told.merge(stories(of: [shard])) { one, other in
                    Issue.record("a connection in two shards, seed \(seed)")
                    return one + other
                }
            }
            #expect(told == whole, "\(count) shards, seed \(seed)")
        }
    }

    /// The same, if some packets were captured twice.
    @Test(arguments: 0..<40)
    func copiesAreWithTheirConnection(seed: Int) {
        var random = SeededRandom(seed: UInt64(3_000 + seed))
        var traffic = RandomTraffic(&random)
        traffic.frames = traffic.frames.flatMap { Bool.random(using: &random) ? [$0, $0] : [$0] }
        let files = traffic.files(&random, count: 1)
        let whole = stories(of: files)
        let sharded = ShardedCaptures(files, into: 5)
        #expect(sharded.packets().joined().count == traffic.frames.count, "seed \(seed)")
        var told: [String: [String]] = [:]
        for shard in sharded.shards { told.merge(stories(of: [shard])) { one, other in one + other } }
        #expect(told == whole, "seed \(seed)")
        #expect(stories(of: sharded.shards) == whole, "seed \(seed)")
    }

    @Test func bothDirectionsAreInOneShard() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        var sizes = [Int](repeating: 0, count: 16)
        for _ in 0..<16_000 {
            let one = Endpoint(IPAddress(v4: 0x0a00_0000 | random.word() & 0xff), UInt16(random.word() >> 16))
            let other = Endpoint(IPAddress(v4: 0x0a01_0001), 443)
            let ends = ConnectionEnds(one, other)
            #expect(ends == ConnectionEnds(other, one), "seed \(seed)")
            sizes[ends.shard(of: 16)] += 1
        }
        // Shards are of about the same size.
        #expect(sizes.allSatisfy { (800...1200).contains($0) }, "\(sizes), seed \(seed)")
    }

    /// Shards that were made by another version fit.
    @Test func shardsAreTheSameForEver() {
        let ends = ConnectionEnds(
            Endpoint(IPAddress(v4: 0x0a00_0001), 40_000), Endpoint(IPAddress(v4: 0x0a00_0002), 80))
        #expect([1, 2, 7, 16, 4096].map { ends.shard(of: $0) } == [0, 0, 1, 4, 1042])
        let inIPv6 = ConnectionEnds(
            Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 1), 40_000),
            Endpoint(IPAddress(v6: 0x2001_0db8_0000_0000, 2), 80))
        #expect([1, 2, 7, 16, 4096].map { inIPv6.shard(of: $0) } == [0, 1, 6, 14, 3771])
    }

    /// An interface keeps its own resolution, down to what nanoseconds cannot express.
    @Test(arguments: [(6, 0), (9, 0), (3, 0), (12, 0), (0x80 | 10, 0), (6, 3600)])
    func timesKeepTheirUnits(resolution: Int, offset: Int) {
        for isBigEndian in [false, true] {
            var file = PcapngFile(isBigEndian: isBigEndian)
            var value = CaptureBytes(isBigEndian: isBigEndian)
            value.u64(offset)
            file.interface(
                linkType: 101, snapLength: 96,
                options: [(2, Array("lo".utf8)), (9, [UInt8(resolution)]), (14, value.bytes), (11, [0, 65])])
            file.packet([0x45], at: 1_234_567_890_123_457)
            let before = read(file.file.bytes).log.packets
            let packets = ShardedCaptures([file.file.bytes], into: 2).packets().flatMap { $0 }
            #expect(packets.map(\.info.time) == before.map(\.info.time))
            #expect(packets.map(\.info.units) == [1_234_567_890_123_457])
        }
    }

    @Test func nanosecondsOfPcap() {
        var file = PcapFile(magic: 0xa1b2_3c4d)
        file.packets = [(5, 123_456_789, [9], nil)]
        let packets = ShardedCaptures([file.bytes], into: 1).packets()[0]
        #expect(packets.map(\.info.time.nanoseconds) == [5_123_456_789])
    }

    /// A packet without a time gets that of the packet before it, whichever shard that is in.
    @Test func packetsWithoutTime() {
        var file = PcapngFile()
        file.interface(options: [(9, [3])])
        file.simplePacket([1], original: 1)
        file.packet([2], at: 1_500)
        file.simplePacket([3, 4, 5, 6], original: 9)
        let packets = ShardedCaptures([file.file.bytes], into: 1).packets()[0]
        #expect(packets.map(\.bytes) == [[1], [2], [3, 4, 5, 6]])
        #expect(packets.map(\.info.time.nanoseconds) == [0, 1_500_000_000, 1_500_000_000])
        #expect(packets.map(\.info.originalLength) == [1, 1, 9])
    }

    @Test func interfacesAreDistinguished() {
        var file = PcapngFile(isBigEndian: true)
        file.interface(options: [(2, Array("frametap:in".utf8))])
        file.interface(options: [(2, Array("frametap:out".utf8))])
        file.interface()
        file.interface()
        // Each twice, and the one whose number comes again in the next section last: what was looked up last may not be kept.
        let order = [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]
        for (number, interface) in order.enumerated() {
            file.packet([UInt8(interface)], at: number, interface: interface)
        }
        file.section(isBigEndian: false)
        file.interface(linkType: 101, options: [(9, [9])])
        for time in [20_000, 21_000] { file.packet([4], at: time) }
        for limit in [1, 2, 1 << 16] {
            let packets = ShardedCaptures([file.file.bytes], into: 1, interfaceLimit: limit).packets()[0]
            #expect(packets.map(\.bytes) == order.map { [UInt8($0)] } + [[4], [4]])
            #expect(packets.map(\.info.leg) == order.map { [.in, .out, nil, nil][$0] } + [nil, nil])
            #expect(packets.map(\.info.linkType) == order.map { _ in .ethernet } + [.raw, .raw])
            #expect(packets.map(\.info.time.nanoseconds) == order.indices.map { Int64($0) * 1_000 } + [20_000, 21_000])
            if limit > 4 { #expect(packets.map(\.info.interface) == order + [4, 4]) }
        }
    }

    @Test func aShardThatIsSplitAgainKeepsWhatItSays() {
        var random = SeededRandom(seed: 3)
        let files = RandomTraffic(&random).files(&random, count: 2)
        let once = ShardedCaptures(files, into: 3)
        let again = ShardedCaptures(once.shards, into: 5)
        let origins = { (sharded: ShardedCaptures) in Set(sharded.packets().joined().compactMap(\.origin)) }
        #expect(origins(once) == origins(again))
        // They say it once.
        let comments = again.packets().joined().map { $0.comments.filter { PacketOrigin(comment: $0) != nil } }
        #expect(comments.allSatisfy { $0.count == 1 })
        #expect(once.packets().joined().map(\.bytes).count == again.packets().joined().map(\.bytes).count)
        #expect(ShardedCaptures(files, into: 5).packets().map(\.count) == again.packets().map(\.count))
    }

    @Test func damageIsReportedAndWhatWasReadIsKept() {
        var file = PcapFile()
        for mark in 0..<5 { file.add([UInt8(mark)], at: mark) }
        let cut = Array(file.bytes.dropLast())
        let sharded = ShardedCaptures([cut, file.bytes, Array("<html>".utf8)], into: 2)
        #expect(sharded.packets().joined().count == 9)
        #expect(Set(sharded.failures.map(\.offset)) == [0, 24 + 4 * 17])
    }

    @Test func origins() {
        let origin = PacketOrigin(comment: "frametap packet 12 of a folder/chat 1.pcap")
        #expect(origin?.number == 12 && origin?.file == "a folder/chat 1.pcap")
        for other in ["frametap packet 0 of a", "frametap packet x of a", "frametap packet 1", "packet 1 of a", ""] {
            #expect(PacketOrigin(comment: other) == nil)
        }
        for (text, isOrigin) in [
            ("packet 12 of a", true), ("packet loss of a", false), ("packet 12 a", false), ("packet 1 of ", false),
        ] {
            let bytes = Array(text.utf8)
            #expect(PacketOrigin.isOrigin(annotation: bytes.span.bytes) == isOrigin, "\(text)")
        }
    }
}
