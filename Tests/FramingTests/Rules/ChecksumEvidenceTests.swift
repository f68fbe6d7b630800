import Framing
import Streams
import Testing

/// The evidence of checksums, where frames are searched for.
@Suite struct ChecksumEvidenceTests {
    /// Modbus RTU: heads with little evidence, and a checksum.
    private static let yaml = """
        header:
        - address: { type: u8, equals: [1..247] }
        - function: { type: u8, names: { 3: read, 6: write, 16: writeMany } }
        - bytes: { type: u8, when: function == 3 }
        framing: { rule: fields, limit: 256 B, body: [{ when: function == 3, size: bytes }, { size: 4 }] }
        trailer: [{ crc: { type: u16, byteOrder: little, checksum: CRC-16/MODBUS, over: [start, end] } }]
        """

    private static func message(_ checksum: Checksum, _ generator: inout SeededGenerator) -> [UInt8] {
        // Small numbers, which look like addresses and functions.
        func registers(_ count: Int) -> [UInt8] {
            (0..<count).flatMap { _ in [0, UInt8.random(in: 0...20, using: &generator)] }
        }
        let address = UInt8.random(in: 1...9, using: &generator)
        var bytes: [UInt8]
        if Bool.random(using: &generator) {
            let count = Int.random(in: 1...12, using: &generator)
            bytes = [address, 3, UInt8(2 * count)] + registers(count)
        } else {
            bytes = [address, 6] + registers(2)
        }
        let sum = checksum.value(of: bytes.span.bytes)
        bytes += [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        return bytes
    }

    /// After lost bytes, the next frames but a few are found, and none that was not sent.
    @Test func noFrameIsInvented() throws {
        let rule = try FormatLoader.load("format: x\n" + Self.yaml, file: "x.yaml").directions.fromClient.rule
        let checksum = try #require(Checksum.named("CRC-16/MODBUS"))
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var (lost, invented) = (0, 0)
        let rounds = 100
        for _ in 0..<rounds {
            let messages = (0..<40).map { _ in Self.message(checksum, &generator) }
            let bytes = Array(messages.joined())
            let starts = messages.indices.map { messages[..<$0].reduce(0) { $0 + $1.count } }
            let gap = Int.random(in: 20...100, using: &generator)
            let end = gap + Int.random(in: 1...60, using: &generator)
            let (log, _) = frame(
                [.bytes(Array(bytes[..<gap])), .gap(end - gap), .bytes(Array(bytes[end...]))], with: rule)
            let found = log.frames.map(\.offset)
            if !Set(found).isSubset(of: starts) { invented += 1 }
            if !Set(found).isSuperset(of: starts.filter { $0 > end }.dropFirst(3)) { lost += 1 }
        }
        // A false checksum is right once in 65,536 times.
        #expect(invented <= 2 && lost <= 2, "invented \(invented), lost \(lost), seed \(seed)")
    }

    /// What leads from the end of a gap to the first frame looks like one, but for its checksum.
    @Test func whatHasAWrongChecksumBeforeARightOneIsNoFrame() throws {
        let rule = try FormatLoader.load("format: x\n" + Self.yaml, file: "x.yaml").directions.fromClient.rule
        let checksum = try #require(Checksum.named("CRC-16/MODBUS"))
        let begun: [UInt8] = [1, 6, 0, 2, 0, 9]
        let sum = checksum.value(of: begun.span.bytes)
        let right = begun + [UInt8(truncatingIfNeeded: sum), UInt8(truncatingIfNeeded: sum >> 8)]
        let wrong = begun + [UInt8(truncatingIfNeeded: ~sum), UInt8(truncatingIfNeeded: ~sum >> 8)]
        let (log, counts) = frame([.gap(3), .bytes(wrong + right + right)], with: rule)
        #expect(log.frames.map(\.offset) == [11, 19] && counts.unframed == 8)
        expectCuttingDoesNotMatter(wrong + right + right, rule: rule, aligned: false)
    }

    /// A frame without a checksum shows nothing about those before it.
    @Test func whatHasNoChecksumIsNoRightOne() throws {
        let yaml = """
            header: [{ mark: { type: u32, equals: 0x89abcdef } }, { flag: u8 }, { sum: { type: u8, when: flag == 1, checksum: sum8, over: [start, field] } }]
            framing: { rule: fields, body: [{ size: 2 }] }
            """
        let rule = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
        let mark: [UInt8] = [0x89, 0xab, 0xcd, 0xef]
        let (with, without) = (mark + [1, 0x77, 5, 6], mark + [0, 5, 6])
        let (log, counts) = frame([.gap(3), .bytes(with + without + without)], with: rule)
        #expect(log.frames.map(\.offset) == [3, 11, 18] && counts.unframed == 0)
    }

    /// Frames of a format with a wrong algorithm are found by their heads.
    @Test func aWrongChecksumIsNotEverything() throws {
        let yaml = """
            header: [{ mark: { type: u32, equals: 0x89abcdef } }, { n: u8 }]
            framing: { rule: length-field, field: n }
            trailer: [{ sum: { type: u8, checksum: sum8 } }]
            """
        let rule = try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient.rule
        let one: [UInt8] = [0x89, 0xab, 0xcd, 0xef, 2, 7, 7, 0xee]
        let (log, counts) = frame([.gap(5), .bytes([1, 2, 3] + one + one)], with: rule)
        #expect(log.frames.map(\.offset) == [8, 16] && counts.unframed == 3)
        expectCuttingDoesNotMatter([1, 2, 3] + one + one, rule: rule, aligned: false)
    }
}
