import Packets
import Streams
import Testing

/// However a file is read, its packets are the same.
@Suite struct ReadingInPiecesTests {
    static let files: [[UInt8]] = {
        var pcap = PcapFile()
        for index in 0..<6 { pcap.add([UInt8](repeating: UInt8(index), count: index * 7), at: index) }
        var pcapng = PcapngFile()
        pcapng.interface()
        pcapng.block(0x0bad) { $0.bytes += [UInt8](repeating: 7, count: 200) }
        for index in 0..<6 { pcapng.packet([UInt8](repeating: UInt8(index), count: index * 7), comments: ["c"]) }
        pcapng.statistics(end: 9)
        let files = [pcap.bytes, pcapng.file.bytes]
        return files + files.map { gzip($0) }
    }()

    @Test(arguments: files)
    func everySplit(file: [UInt8]) {
        let whole = read(file).log.packets
        #expect(whole.count == 6)
        for size in 1...file.count {
            #expect(read(file, sizes: [size, file.count], chunk: 64).log.packets == whole)
            #expect(read(file, sizes: [size], chunk: 64).log.packets == whole)
        }
    }

    @Test(arguments: files)
    func everyPrefix(file: [UInt8]) {
        let whole = read(file).log.packets
        for length in 0..<file.count {
            let (log, error) = read(Array(file[..<length]))
            #expect(log.packets[...] == whole.prefix(log.packets.count))
            // A file may end between two records.
            if error == nil { #expect(length >= 24) }
        }
    }

    @Test func damagedFilesEndInAnError() {
        var random = SeededRandom(seed: 7)
        for file in ReadingInPiecesTests.files {
            for _ in 0..<2000 {
                var damaged = file
                for _ in 0..<Int.random(in: 1...4, using: &random) {
                    damaged[Int.random(in: damaged.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                }
                _ = read(damaged, sizes: [Int.random(in: 1...300, using: &random)], chunk: 64)
                _ = events(of: damaged)
            }
        }
    }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededRandom: RandomNumberGenerator {
    var seed: UInt64

    mutating func next() -> UInt64 {
        seed &+= 0x9e37_79b9_7f4a_7c15
        var mixed = seed
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}
