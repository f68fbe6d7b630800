import Packets
import Streams
import Testing

@Suite struct PcapTests {
    @Test(arguments: [false, true])
    func bothByteOrders(isBigEndian: Bool) {
        var file = PcapFile(isBigEndian: isBigEndian)
        file.add([1, 2, 3], at: 1_700_000_000_000_001, original: 60)
        file.add([], at: 1_700_000_000_999_999)
        let (log, error) = read(file.bytes)
        #expect(error == nil)
        #expect(log.packets.map(\.bytes) == [[1, 2, 3], []])
        #expect(log.packets.map(\.info.number) == [1, 2])
        #expect(
            log.packets.map(\.info.time.nanoseconds) == [1_700_000_000_000_001_000, 1_700_000_000_999_999_000])
        #expect(log.packets.first?.info.originalLength == 60)
        #expect(log.packets.first?.info.linkType == .ethernet)
    }

    @Test func nanoseconds() {
        var file = PcapFile(magic: 0xa1b2_3c4d)
        file.packets = [(5, 123_456_789, [9], nil)]
        #expect(read(file.bytes).log.packets.first?.info.time.nanoseconds == 5_123_456_789)
    }

    @Test func modifiedRecords() {
        var file = PcapFile(magic: 0xa1b2_cd34)
        file.add([1, 2])
        file.add([3])
        #expect(read(file.bytes).log.packets.map(\.bytes) == [[1, 2], [3]])
    }

    @Test func swappedLengthsOfOldVersions() {
        var file = PcapFile(version: (2, 2))
        file.add([1, 2], original: 60)
        file.add([3], original: 60)
        let packets = read(file.bytes).log.packets
        #expect(packets.map(\.bytes) == [[1, 2], [3]])
        #expect(packets.map(\.info.originalLength) == [60, 60])
    }

    /// `cat a.pcap b.pcap`, also of gzip files: a file may follow another one, in another byte order and of another link type.
    @Test(arguments: [false, true], [false, true]) func filesPutTogether(
        isFirstBigEndian: Bool, isSecondBigEndian: Bool
    ) {
        var first = PcapFile(isBigEndian: isFirstBigEndian)
        first.add([1, 2, 3], at: 1_000_000)
        first.add([])
        var second = PcapFile(magic: 0xa1b2_3c4d, isBigEndian: isSecondBigEndian, linkType: 101)
        second.packets = [(5, 123_456_789, [4], nil), (6, 0, [5, 6], nil)]
        let empty = PcapFile().bytes
        let whole = first.bytes + empty + second.bytes
        let pieces: [(bytes: [UInt8], sizes: [Int])] = [
            (whole, [1 << 20]), (whole, [1]), (whole, [7, 16, 24]),
            (gzip(first.bytes + empty) + gzip(second.bytes), [1 << 20]),
        ]
        for (bytes, sizes) in pieces {
            let (log, error) = read(bytes, sizes: sizes)
            #expect(error == nil)
            #expect(log.packets.map(\.bytes) == [[1, 2, 3], [], [4], [5, 6]])
            #expect(log.packets.map(\.info.number) == [1, 2, 3, 4])
            #expect(log.packets.map(\.info.linkType) == [.ethernet, .ethernet, .raw, .raw])
            #expect(log.packets.map(\.info.time.nanoseconds) == [1_000_000_000, 0, 5_123_456_789, 6_000_000_000])
        }
        let error = read(first.bytes + second.bytes.prefix(20)).error
        #expect(error?.kind == .truncated && error?.offset == first.bytes.count)
    }

    @Test func checkSequenceLengthInLinkType() {
        var file = PcapFile(linkType: 0x2400_0001)
        file.add([1])
        #expect(read(file.bytes).log.packets.first?.info.linkType == .ethernet)
    }

    @Test func damageIsPlaced() {
        var file = PcapFile()
        file.add([1, 2, 3])
        var bytes = file.bytes
        let (log, error) = read(bytes + [1, 2, 3])
        #expect(log.packets.count == 1)
        #expect(error?.kind == .truncated)
        #expect(error?.offset == 43)
        bytes += [UInt8](repeating: 0xff, count: 16)
        #expect(read(bytes).error?.kind == .badLength)
        #expect(read(bytes).error?.offset == 51)
        #expect(read([1, 2, 3, 4]).error?.kind == .notACapture)
        #expect(read([]).error?.kind == .truncated)
    }

    /// A compression that is not read is named, unless gzip is around it.
    @Test func otherCompressionsAreNamed() {
        let files: [(CaptureCompression, [UInt8])] = [
            (.zstd, [0x28, 0xb5, 0x2f, 0xfd]), (.xz, [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0]), (.bzip2, Array("BZh9".utf8)),
            (.lz4, [0x04, 0x22, 0x4d, 0x18]),
        ]
        #expect(files.map(\.0) == CaptureCompression.allCases)
        for (compression, bytes) in files {
            let error = read(bytes + [1, 2, 3]).error
            #expect(error?.kind == .compressed(compression) && error?.compression == compression)
            #expect(read(gzip(bytes)).error?.compression == nil)
            #expect(CaptureMagic.begins(bytes) && !CaptureMagic.begins(bytes.prefix(3)))
        }
        #expect(read(Array("BZh0".utf8)).error?.kind == .notACapture)
    }

    @Test func stopLeavesThePacket() throws {
        var file = PcapFile()
        for index in 0..<5 { file.add([UInt8(index)]) }
        var log = PacketLog(stopAt: 3)
        var reader = CaptureReader(PieceSource(file.bytes, sizes: [1000]))
        #expect(try reader.read(to: &log) == false)
        #expect(log.packets.count == 2)
        #expect(try reader.read(to: &log) == true)
        #expect(log.packets.map(\.info.number) == [1, 2, 3, 4, 5])
    }
}
