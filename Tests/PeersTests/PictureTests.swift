import Peers
import Testing

@Suite struct PictureTests {
    @Test(arguments: [200, 201, 300, 4_213, 48_213, 65_537 + 213, 65_537 + 214, 65_537 + 216, 65_537 + 217, 200_000])
    func isAWellFormedJPEGOfTheSizeAskedFor(byteCount: Int) throws {
        let bytes = Picture.jpeg(byteCount: byteCount)
        #expect(bytes.count == byteCount)
        #expect(bytes.starts(with: [0xff, 0xd8, 0xff, 0xe0]))
        #expect(bytes.suffix(2) == [0xff, 0xd9])
        var at = 2
        var markers: [UInt8] = [0xd8]
        while markers.last != 0xda {
            try #require(bytes[at] == 0xff)
            markers.append(bytes[at + 1])
            at += 2 + Int(bytes[at + 2]) << 8 + Int(bytes[at + 3])
        }
        #expect(markers.filter { $0 != 0xfe } == [0xd8, 0xe0, 0xdb, 0xc0, 0xc4, 0xc4, 0xda])
        #expect(bytes[at...] == [0x3f, 0xff, 0xd9])
    }
}
