import Packets
import Streams
import Testing

/// A gzip file is equivalent to the capture in it.
@Suite struct GzipTests {
    /// A pcap file with packets that compress, and some that do not.
    static func file(_ random: inout SeededRandom) -> [UInt8] {
        var file = PcapFile()
        for index in 0..<200 {
            let count = Int.random(in: 0...1500, using: &random)
            let isRandom = index % 3 == 0
            file.add((0..<count).map { _ in isRandom ? UInt8.random(in: 0...255, using: &random) : 7 }, at: index)
        }
        return file.bytes
    }

    @Test func membersFollowEachOther() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let plain = Self.file(&random)
        let whole = read(plain).log.packets
        #expect(whole.count == 200)
        for count in 1...5 {
            let cuts =
                [0] + (1..<count).map { _ in Int.random(in: 0...plain.count, using: &random) }.sorted() + [plain.count]
            let members = zip(cuts, cuts.dropFirst()).flatMap { gzip(Array(plain[$0..<$1])) }
            for padding in [0, 1, 700] {
                let size = Int.random(in: 1...5000, using: &random)
                let (log, error) = read(members + [UInt8](repeating: 0, count: padding), sizes: [size], chunk: 4096)
                #expect(error == nil && log.packets == whole, "\(count) members, seed \(seed)")
            }
        }
    }

    @Test func aCutIsSaidWhereItIs() {
        var random = SeededRandom(seed: 1)
        let plain = Self.file(&random)
        let whole = read(plain).log.packets
        let file = gzip(plain)
        for end in stride(from: 2, to: file.count, by: 997) {
            let (log, error) = read(Array(file[..<end]))
            #expect(error?.kind == .truncated && error?.offset == end && error?.isExpanded == false)
            #expect(log.packets[...] == whole.prefix(log.packets.count))
            // All but the last piece of the compressed data is readable.
            if end > file.count / 2 { #expect(log.packets.count > 50) }
        }
    }

    /// The error, and the data readable before it, do not depend on how the file is read.
    @Test func damageIsTheSameHoweverTheFileIsRead() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var random = SeededRandom(seed: seed)
        let plain = Self.file(&random)
        let whole = read(plain).log.packets
        let file = gzip(plain)
        for _ in 0..<300 {
            var damaged = file
            damaged[Int.random(in: damaged.indices, using: &random)] ^= UInt8.random(in: 1...255, using: &random)
            let (log, error) = read(damaged)
            let pieces = read(damaged, sizes: [Int.random(in: 1...999, using: &random)], chunk: 1024)
            #expect(pieces.log.packets == log.packets && pieces.error == error, "seed \(seed)")
            // A few bytes of the header carry no relevant information: the time, the system.
            if error == nil { #expect(log.packets == whole, "seed \(seed)") }
            if let error, !error.isExpanded { #expect((0...file.count).contains(error.offset), "seed \(seed)") }
        }
    }

    @Test func whatFollowsTheLastMemberIsSaid() {
        var file = PcapFile()
        file.add([1, 2, 3])
        let member = gzip(file.bytes)
        let (log, error) = read(member + [0, 0, 0x41])
        #expect(log.packets.count == 1)
        #expect(
            error?.description
                == "byte \(member.count + 2): expected another gzip member or the end of the file, found 0x41")
    }

    @Test func damageOfTheCaptureIsPlacedInTheCapture() {
        var file = PcapFile()
        file.add([1, 2, 3])
        let (log, error) = read(gzip(file.bytes + [1, 2, 3]))
        #expect(log.packets.count == 1)
        #expect(
            error?.description
                == "byte 43 of the expanded file: expected 16 bytes of a record header, found the end of the file after 3 of them"
        )
    }

    /// Output is discarded as it is read, and no more is read than needed to see that it is not a capture.
    @Test func muchFromLittleIsNotKept() {
        let bomb = gzip([UInt8](repeating: 0, count: 64 << 20))
        var reader = CaptureReader(PieceSource(bomb, sizes: [512]), chunk: 4096)
        var log = PacketLog()
        #expect(throws: (any Error).self) { try reader.read(to: &log) }
        #expect(reader.bytesRead <= 512)
    }
}
