import Packets
import Streams
import Testing

/// Several captures form one timeline.
@Suite struct MergeTests {
    /// The result of reading captures together.
    struct Outcome {
        var packets: [ReadPacket] = []
        var failures: [(capture: Int, failure: CaptureReadFailure<Never>)] = []
        var end: Timestamp?
        var bytesRead = 0

        var marks: [UInt8] { packets.compactMap(\.bytes.first) }
    }

    static func merge(_ files: [[UInt8]], sizes: [Int] = [1 << 20], chunk: Int = 4096) -> Outcome {
        var merge = CaptureMerge(files.map { PieceSource($0, sizes: sizes) }, chunk: chunk)
        var packets = MergedPackets(to: PacketLog())
        var outcome = Outcome()
        reading: while true {
            switch merge.step(to: &packets) {
            case .more: continue
            case .failed(let capture, let failure): outcome.failures.append((capture, failure))
            case .stopped, .end: break reading
            }
        }
        (outcome.packets, outcome.end) = (packets.receiver.packets, packets.receiver.end)
        outcome.bytesRead = merge.bytesRead
        return outcome
    }

    /// A capture of packets of one byte, each with its time in microseconds.
    static func file(_ packets: [(mark: UInt8, time: Int)]) -> [UInt8] {
        var file = PcapFile()
        for packet in packets { file.add([packet.mark], at: packet.time) }
        return file.bytes
    }

    @Test func packetsComeInOrderOfTime() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        for count in [1, 2, 3, 20] {
            // Some files overlap, some do not, some are empty.
            var files = [PcapFile](repeating: PcapFile(), count: count)
            var current = 0
            for time in 0..<600 {
                if Int.random(in: 0..<(time < 300 ? 2 : 50), using: &random) == 0 {
                    current = Int.random(in: 0..<count, using: &random)
                }
                files[current].add(big(time, 2), at: time)
            }
            let bytes = files.map { Bool.random(using: &random) ? gzip($0.bytes) : $0.bytes }
            let size = Int.random(in: 1...900, using: &random)
            let outcome = Self.merge(bytes, sizes: [size], chunk: Int.random(in: 64...4096, using: &random))
            #expect(outcome.failures.isEmpty, "seed \(seed)")
            #expect(outcome.packets.map(\.bytes) == (0..<600).map { big($0, 2) }, "\(count) files, seed \(seed)")
            #expect(outcome.packets.map(\.info.number) == Array(1...600), "seed \(seed)")
            #expect(outcome.bytesRead == bytes.reduce(0) { $0 + $1.count }, "seed \(seed)")
        }
    }

    /// A receiver that refuses a packet gets it again, before those of other captures, when reading goes on.
    @Test(arguments: 1...8) func aRefusedPacketComesAgain(refused: Int) {
        let files = [
            Self.file([(1, 10), (3, 30), (5, 50), (7, 70)]), Self.file([(2, 20), (4, 40), (6, 60), (8, 80)]),
        ]
        var merge = CaptureMerge(files.map { PieceSource($0, sizes: [1 << 20]) }, chunk: 4096)
        var packets = MergedPackets(to: PacketLog(stopAt: refused))
        var stops: [Int] = []
        reading: while true {
            switch merge.step(to: &packets) {
            case .more: continue
            case .stopped: stops.append(packets.receiver.packets.count)
            case .failed, .end: break reading
            }
        }
        #expect(stops == [refused - 1])
        #expect(packets.receiver.packets.map(\.bytes) == (1...8).map { [UInt8($0)] })
        #expect(packets.receiver.packets.map(\.info.number) == Array(1...8))
    }

    @Test func ofEqualTimesTheFirstFileGoesFirst() {
        let outcome = Self.merge([
            Self.file([(1, 5), (2, 5), (3, 7)]), Self.file([(4, 5), (5, 6), (6, 7)]), Self.file([(7, 5)]),
        ])
        #expect(outcome.marks == [1, 2, 4, 7, 5, 3, 6])
    }

    @Test func aFileKeepsItsOwnOrder() {
        let outcome = Self.merge([Self.file([(1, 10), (2, 4), (3, 12)]), Self.file([(4, 5), (5, 11)])])
        #expect(outcome.marks == [4, 1, 2, 5, 3])
    }

    @Test func packetsWithoutTimeFollowTheOneBefore() {
        var file = PcapngFile()
        file.interface()
        file.packet([1], at: 10)
        file.simplePacket([2], original: 1)
        file.packet([3], at: 30)
        #expect(Self.merge([Self.file([(4, 5), (5, 20), (6, 40)]), file.file.bytes]).marks == [4, 1, 2, 5, 3, 6])
    }

    @Test func interfacesAreEachFilesOwn() {
        var file = PcapngFile(isBigEndian: true)
        file.interface(linkType: 101, options: [(9, [9])])
        file.packet([1], at: 1_000)
        file.packet([2], at: 3_000)
        let packets = Self.merge([Self.file([(3, 2), (4, 4)]), file.file.bytes]).packets
        #expect(packets.map(\.bytes) == [[1], [3], [2], [4]])
        #expect(packets.map(\.info.linkType) == [.raw, .ethernet, .raw, .ethernet])
    }

    @Test func aDamagedFileDoesNotStopTheOthers() {
        let good = Self.file([(1, 1), (2, 3), (3, 5)])
        let cut = Array(Self.file([(4, 2), (5, 4)]).dropLast())
        let outcome = Self.merge([Array("<html>".utf8), good, [], cut, good])
        #expect(outcome.marks == [1, 1, 4, 2, 2, 3, 3])
        #expect(outcome.failures.map(\.capture) == [0, 2, 3])
    }

    /// The damage is behind a packet for which the capture had to wait: its bytes were read before.
    @Test func damageInWhatWasReadBeforeIsReported() {
        var random = SeededRandom(seed: 1)
        let bad = (0..<16).map { (8..<12).contains($0) ? 0x7f : UInt8.random(in: 0...9, using: &random) }
        let damaged = Self.file([(1, 1), (4, 4)]) + bad
        let good = Self.file([(2, 2), (5, 5)])
        let outcome = Self.merge([damaged, good])
        #expect(outcome.marks == [1, 2, 4, 5])
        #expect(outcome.failures.map(\.capture) == [0] && outcome.bytesRead == damaged.count + good.count)
        guard case .damaged(let error)? = outcome.failures.first?.failure else {
            Issue.record("\(outcome.failures)")
            return
        }
        #expect(error.kind == .badLength && error.offset == damaged.count - 8)
    }

    @Test func theEndThatFilesSayIsThatOfAll() {
        var file = PcapngFile()
        file.interface()
        file.packet([1], at: 1)
        file.statistics(end: 100)
        #expect(Self.merge([file.file.bytes, Self.file([(2, 50)])]).end == Timestamp(nanoseconds: 100_000))
    }

    /// A file is read when its turn comes: of a waiting file, only the part that gives its start time.
    @Test func filesThatDoNotOverlapAreReadOneAfterAnother() {
        let files = (0..<3).map { index in
            Self.file((0..<2000).map { (UInt8(index), index * 10_000 + $0) })
        }
        var merge = CaptureMerge(files.map { PieceSource($0, sizes: [1 << 20]) })
        var packets = MergedPackets(to: PacketLog())
        for _ in files { _ = merge.step(to: &packets) }
        #expect(packets.packetCount == 0 && merge.bytesRead == 3 * 4096)
        var steps = 0
        while packets.packetCount < 2000 {
            _ = merge.step(to: &packets)
            steps += 1
        }
        #expect(packets.packetCount == 2000 && steps == 2 && merge.bytesRead == files[0].count + 2 * 4096)
    }
}
