import Packets
import Streams
import Testing

@Suite struct PcapngTests {
    @Test(arguments: [false, true])
    func blocks(isBigEndian: Bool) {
        var file = PcapngFile(isBigEndian: isBigEndian)
        file.interface()
        file.interface(linkType: 101, options: [(2, Array("lo".utf8)), (9, [9])])
        file.packet([1, 2, 3], at: 1_700_000_000_000_001, comments: ["first", "zweiter ü"])
        file.block(0x0bad) { $0.bytes += [UInt8](repeating: 7, count: 20) }
        file.packet([4], at: 1_700_000_000_000_000_005, interface: 1, original: 1500)
        file.obsoletePacket([5], at: 1_700_000_000_000_002)
        file.simplePacket([6, 7], original: 2)
        file.statistics(end: 1_700_000_000_500_000)
        let (log, error) = read(file.file.bytes)
        #expect(error == nil)
        #expect(log.packets.map(\.bytes) == [[1, 2, 3], [4], [5], [6, 7]])
        #expect(
            log.packets.map(\.info.time.nanoseconds) == [
                1_700_000_000_000_001_000, 1_700_000_000_000_000_005, 1_700_000_000_000_002_000, 0,
            ])
        #expect(log.packets.map(\.info.hasTime) == [true, true, true, false])
        #expect(log.packets.map(\.info.linkType) == [.ethernet, .raw, .ethernet, .ethernet])
        #expect(log.packets.map(\.info.originalLength) == [3, 1500, 1, 2])
        #expect(log.packets.map(\.comments) == [["first", "zweiter ü"], [], [], []])
        #expect(log.end == Timestamp(nanoseconds: 1_700_000_000_500_000_000))
    }

    @Test func sectionsOfDifferentOrder() {
        var file = PcapngFile(isBigEndian: true)
        file.interface()
        file.packet([1])
        file.section(isBigEndian: false)
        file.interface(linkType: 101)
        file.packet([2])
        let (log, error) = read(file.file.bytes)
        #expect(error == nil)
        #expect(log.packets.map(\.info.linkType) == [.ethernet, .raw])
        #expect(log.packets.map(\.info.number) == [1, 2])
    }

    /// A clock, a count of its units, and the corresponding instant.
    struct Clock {
        var resolution: UInt8
        var offset: Int
        var units: Int
        var nanoseconds: Int64

        init(_ resolution: UInt8, _ offset: Int, _ units: Int, _ nanoseconds: Int64) {
            (self.resolution, self.offset, self.units, self.nanoseconds) = (resolution, offset, units, nanoseconds)
        }

        static let all: [Clock] = [
            Clock(6, 0, 1_500_000, 1_500_000_000),
            Clock(9, 0, 1_500_000_000, 1_500_000_000),
            Clock(0, 0, 3, 3_000_000_000),
            Clock(3, 10, 1_500, 11_500_000_000),
            Clock(12, 0, 1_500_000_000_999, 1_500_000_000),
            Clock(0x80 | 1, 0, 3, 1_500_000_000),
            Clock(0x80 | 10, -1, 1536, 500_000_000),
            Clock(0x80, 0, 2, 2_000_000_000),
            Clock(127, 0, 5, 0),
            Clock(255, 0, 5, 0),
            Clock(6, 0, -1_500_000, -1_500_000_000),
            Clock(0x80 | 63, 0, 1 << 62, 500_000_000),
            Clock(0x80 | 64, 0, 1 << 62, 250_000_000),
            Clock(19, 0, 1 << 40, 109),
        ]
    }

    @Test(arguments: Clock.all)
    func timeResolution(clock: Clock) {
        var file = PcapngFile()
        var value = CaptureBytes()
        value.u64(clock.offset)
        file.interface(options: [(9, [clock.resolution]), (14, value.bytes)])
        file.packet([1], at: clock.units)
        #expect(read(file.file.bytes).log.packets.first?.info.time.nanoseconds == clock.nanoseconds)
    }

    @Test func simplePacketsAreCutAtTheSnapshotLength() {
        var file = PcapngFile()
        file.interface(snapLength: 2)
        file.simplePacket([1, 2], original: 1000)
        let packet = read(file.file.bytes).log.packets.first
        #expect(packet?.bytes == [1, 2])
        #expect(packet?.info.originalLength == 1000)
    }

    @Test func damageIsPlaced() {
        var file = PcapngFile()
        file.packet([1])
        #expect(read(file.file.bytes).error?.kind == .unknownInterface)
        file = PcapngFile()
        file.interface()
        let start = file.file.bytes.count
        file.packet([1])
        var bytes = file.file.bytes
        bytes[bytes.count - 4] = 99
        let (log, error) = read(bytes)
        #expect(log.packets.isEmpty)
        #expect(error?.kind == .badLength)
        #expect(error?.offset == bytes.count - 4)
        bytes[start + 4] = 13
        #expect(read(bytes).error?.offset == start + 4)
    }

    /// Interfaces take memory: a section may not have any number of them.
    @Test func interfacesOfASectionAreLimited() {
        var file = PcapngFile()
        for _ in 0..<65_536 { file.interface() }
        file.packet([1], interface: 65_535)
        let (allowed, none) = read(file.file.bytes)
        #expect(none == nil && allowed.packets.map(\.info.interface) == [65_535])
        // Those of another section count from 0.
        var two = file
        two.section(isBigEndian: false)
        two.interface()
        #expect(read(two.file.bytes).error == nil)
        let start = file.file.bytes.count
        file.interface()
        file.packet([2])
        let (log, error) = read(file.file.bytes)
        #expect(log.packets.map(\.bytes) == [[1]])
        #expect(error?.kind == .tooManyInterfaces && error?.offset == start)
    }
}
