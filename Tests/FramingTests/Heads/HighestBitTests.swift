import Streams
import Testing

@testable import Framing

/// Numbers of 64 bits whose highest bit is set.
@Suite struct HighestBitTests {
    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    /// Their bits are there, and say what follows.
    @Test func bitsOfSuchNumbers() throws {
        let side = try side(
            """
            header:
              - flags: { type: u64, bits: { 63: urgent, 0: hasKey } }
              - key: { type: u32, when: hasKey == 1 }
              - length: u16
            framing: { rule: fields, body: length }
            """)
        let bytes: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 2, 0x68, 0x69]
        let (log, _) = frame(cut(bytes, at: []), with: side.rule)
        #expect(log.frames.map(\.length) == [16])
        let fields = side.fields(of: bytes.span.bytes, FrameShape(head: 14, body: 2))
        #expect(fields.first { $0.name == "urgent" }?.value == .integer(1))
        #expect(fields.first { $0.name == "flags" }?.value == .unsigned(0x8000_0000_0000_0001))
    }

    /// A constant may be such a number: the first eight bytes of a PNG file.
    @Test func constantsOfSuchNumbers() throws {
        let side = try side(
            """
            header: [{ magic: { type: u64, equals: 0x89504e470d0a1a0a } }, { length: u8 }]
            framing: { rule: length-field, field: length }
            """)
        let right: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 1, 7]
        #expect(frame(cut(right, at: []), with: side.rule).log.frames.count == 1)
        let wrong: [UInt8] = [0x09] + right.dropFirst()
        #expect(frame(cut(wrong, at: []), with: side.rule).log.frames.isEmpty)
    }

    /// A constant bit is compared whatever the highest one is.
    @Test func constantBitsOfSuchNumbers() throws {
        let side = try side(
            """
            header: [{ flags: { type: u64, bits: { 63: urgent, 0: { name: one, equals: 1 } } } }, { length: u8 }]
            framing: { rule: length-field, field: length }
            """)
        for last in [UInt8(0), 1] {
            let bytes: [UInt8] = [0x80, 0, 0, 0, 0, 0, 0, last, 0]
            #expect(frame(cut(bytes, at: []), with: side.rule).log.frames.count == Int(last))
        }
    }

    /// Sizes that are differences of such numbers do not overflow.
    @Test func sizesFromSuchNumbers() throws {
        let side = try side(
            """
            header: [{ start: u64 }, { end: u64 }, { part: { repeat: rest, size: end - start, of: [{ n: varint }] } }]
            framing: { rule: fields }
            """)
        func big(_ number: UInt64) -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) } }
        let bytes =
            big((1 << 63) - 11) + big((1 << 63) + 29) + (0..<20).flatMap { _ in [UInt8(0x81), 0] }
        let (log, counts) = frame(cut(bytes, at: []), with: side.rule)
        #expect(counts.bytes == bytes.count)
        for frame in log.frames { _ = side.fields(of: bytes.span.bytes, frame.shape) }
    }
}
