import Streams
import Testing

@testable import Packets

/// The blocks of pcapng, byte by byte.
@Suite struct PcapngWriterTests {
    @Test func theBytesOfASmallFile() {
        var writer = PcapngWriter()
        var file: [UInt8] = []
        writer.appendSectionHeader(application: "frame", to: &file)
        #expect(
            file == [
                0x0a, 0x0d, 0x0d, 0x0a, 44, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
                255, 255, 255, 255, 255, 255, 255, 255,
                4, 0, 5, 0, 0x66, 0x72, 0x61, 0x6d, 0x65, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
            ])
        file = []
        #expect(writer.appendInterface(name: "proxy", to: &file) == 0)
        #expect(
            file == [
                1, 0, 0, 0, 44, 0, 0, 0, 101, 0, 0, 0, 0, 0, 0, 0,
                2, 0, 5, 0, 0x70, 0x72, 0x6f, 0x78, 0x79, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
            ])
        #expect(writer.appendInterface(name: "", linkType: 1, to: &file) == 1)
        file = []
        let packet: [UInt8] = [1, 2, 3, 4, 5]
        let time = Timestamp(nanoseconds: 0x0123_4567_89ab_cdef)
        writer.appendPacket(packet.span.bytes, at: time, interface: 1, to: &file)
        let head: [UInt8] = [
            1, 0, 0, 0, 0x67, 0x45, 0x23, 0x01, 0xef, 0xcd, 0xab, 0x89, 5, 0, 0, 0, 5, 0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0,
        ]
        #expect(file == [6, 0, 0, 0, 40, 0, 0, 0] + head + [40, 0, 0, 0])
        file = []
        writer.appendPacket(
            packet.span.bytes, at: time, interface: 1, comment: "心", droppedPackets: 258, to: &file)
        #expect(
            file == [6, 0, 0, 0, 64, 0, 0, 0] + head + [
                1, 0, 3, 0, 0xe5, 0xbf, 0x83, 0, 4, 0, 8, 0, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 64, 0, 0, 0,
            ])
        file = []
        writer.appendStatistics(
            start: Timestamp(nanoseconds: 1), end: Timestamp(nanoseconds: 1 << 32), received: 9, delivered: 7, to: &file
        )
        #expect(
            file == [
                5, 0, 0, 0, 76, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                2, 0, 8, 0, 0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 8, 0, 1, 0, 0, 0, 0, 0, 0, 0,
                4, 0, 8, 0, 9, 0, 0, 0, 0, 0, 0, 0, 8, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 76, 0, 0, 0,
            ])
        #expect(writer.appendInterface(name: "third", to: &file) == 2)
        writer.appendSectionHeader(application: "", to: &file)
        #expect(writer.appendInterface(name: "first again", to: &file) == 0)
    }

    @Test(arguments: [("x", 65_535), ("é", 65_534), ("心", 65_535), ("x心", 65_533), ("xx心", 65_534), ("👍", 65_532)])
    func longCommentsEndAtACharacter(start: String, length: Int) throws {
        let unit = start.last.map(String.init) ?? ""
        let comment = String(start.dropLast()) + String(repeating: unit, count: 70_000)
        var file: [UInt8] = []
        PcapngWriter().appendPacket(RawSpan(), at: Timestamp(nanoseconds: -5), comment: comment, to: &file)
        #expect(Array(file[12..<20]) == Array(repeating: 0, count: 8), "a time before 1970 is 1970")
        #expect(Int(file[30]) | Int(file[31]) << 8 == length)
        let written = String(validating: file[32..<32 + length], as: UTF8.self)
        #expect(written.map { comment.utf8.starts(with: $0.utf8) } == true)
        #expect(file.count % 4 == 0)
        let total = file.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
        #expect(total == file.count)
    }

    @Test func whatACaptureOfAnInterfaceSays() throws {
        var writer = PcapngWriter()
        var file: [UInt8] = []
        writer.appendSectionHeader(application: "x", comment: "one", to: &file)
        #expect(Array(file[24..<32]) == [1, 0, 3, 0, 0x6f, 0x6e, 0x65, 0])
        file = []
        _ = writer.appendInterface(name: "lo", linkType: 1, snapLength: 96, filter: "tcp", to: &file)
        #expect(Array(file[8..<16]) == [1, 0, 0, 0, 96, 0, 0, 0])
        #expect(Array(file[32..<40]) == [11, 0, 4, 0, 0, 0x74, 0x63, 0x70])
        file = []
        let packet: [UInt8] = [1, 2]
        writer.appendPacket(packet.span.bytes, originalLength: 300, at: Timestamp(nanoseconds: 0), to: &file)
        #expect(Array(file[20..<28]) == [2, 0, 0, 0, 44, 1, 0, 0])
        file = []
        let time = Timestamp(nanoseconds: 0)
        writer.appendStatistics(start: time, end: time, received: 9, dropped: 2, delivered: 7, to: &file)
        #expect(Array(file[56..<68]) == [7, 0, 8, 0, 2, 0, 0, 0, 0, 0, 0, 0])
    }

    @Test func blocksAreAppended() {
        var file: [UInt8] = [9, 9, 9]
        var writer = PcapngWriter()
        writer.appendSectionHeader(application: "x", to: &file)
        #expect(file.prefix(7) == [9, 9, 9, 0x0a, 0x0d, 0x0d, 0x0a])
        #expect(file.count == 3 + 40)
    }

    @Test func aTruncatedFileIsCompleteUpToItsLastWholeBlock() {
        var writer = PcapngWriter()
        var file: [UInt8] = []
        var ends = [0]
        writer.appendSectionHeader(application: "frametap", to: &file)
        ends.append(file.count)
        _ = writer.appendInterface(name: "proxy", to: &file)
        ends.append(file.count)
        for length in [0, 1, 300, 70_000] {
            let packet = [UInt8](repeating: 0xff, count: length)
            writer.appendPacket(packet.span.bytes, at: Timestamp(nanoseconds: 1), interface: 0, to: &file)
            ends.append(file.count)
        }
        let lengths = ends.flatMap { end in [-1, 0, 1, 7, 8, 9].map { end + $0 } }
        for length in lengths where (0...file.count).contains(length) {
            let complete = PcapngWriter.completeLength(of: file.span.bytes.extracting(0..<length))
            #expect(complete == ends.last { $0 <= length }, "\(length) bytes")
        }
        // A length that is shorter than the header does not stop it from ending.
        #expect(PcapngWriter.completeLength(of: [UInt8](repeating: 0, count: 64).span.bytes) == 0)
    }
}
