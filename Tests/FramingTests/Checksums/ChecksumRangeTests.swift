import Framing
import Streams
import Testing

/// What a checksum covers, from a field on.
@Suite struct ChecksumRangeTests {
    private func side(_ yaml: String) throws -> DirectionFormat {
        try FormatLoader.load("format: x\n" + yaml, file: "x.yaml").directions.fromClient
    }

    private static let trailer = "trailer: [{ check: { type: u16, checksum: CRC-16/IBM-SDLC, over: [length, field] } }]"
    private static let fields = "{ sync: { type: u16, equals: 0x7878 } }, { length: u8 }"

    /// The CRC of a GT06 frame leaves out the two sync bytes before the length.
    @Test(arguments: [
        "header: [\(fields)]\n\(trailer)\nframing: { rule: length-field, field: length, counts: rest }",
        "header: [\(fields)]\n\(trailer)\nframing: { rule: fields, body: length - 2 }",
    ]) func aFieldBeginsIt(yaml: String) throws {
        let side = try side(yaml)
        let frame = try side.encode([], body: [1, 2, 3])
        #expect(frame.prefix(3) == [0x78, 0x78, 5] && frame.count == 8)
        let covered = Array(frame[2..<6])
        let crc = try #require(Checksum.named("CRC-16/IBM-SDLC")).value(of: covered.span.bytes)
        #expect(UInt64(frame[6]) << 8 | UInt64(frame[7]) == crc)
        let shape = FrameShape(head: 3, body: 3, tail: 2)
        let results = side.layouts[0].checksums(of: frame.span.bytes, shape)
        #expect(results.count == 1 && results.allSatisfy { $0.found == $0.expected })
        // Other sync bytes are not its matter, the length is.
        for place in frame.indices {
            var other = frame
            other[place] ^= 1
            let isRight = side.layouts[0].checksums(of: other.span.bytes, shape).allSatisfy { $0.found == $0.expected }
            #expect(isRight == (place < 2), "byte \(place)")
        }
    }

    /// Both ends may be fields: a check byte in the middle of a header.
    @Test func fieldsMayEndIt() throws {
        let side = try side(
            """
            header: [{ sync: u8 }, { a: u8 }, { b: u8 }, { c: u8 }, { check: { type: u8, checksum: sum8, over: [a, c] } }]
            framing: { rule: fixed, size: 5 }
            """)
        let given = [("sync", 9), ("a", 1), ("b", 2), ("c", 4)].map { Field($0.0, .integer($0.1)) }
        #expect(try side.encode(given, body: []) == [9, 1, 2, 4, 3])
    }

    /// A frame without the field is not checked.
    @Test func anOptionalFieldMayBeMissing() throws {
        let side = try side(
            """
            header: [{ sync: u8 }, { a: { type: u8, when: sync == 1 } }, { b: u8 }]
            trailer: [{ check: { type: u8, checksum: sum8, over: [a, field] } }]
            framing: { rule: fields }
            """)
        let (with, without): ([UInt8], [UInt8]) = ([1, 2, 3, 5], [0, 3, 9])
        let checked = side.layouts[0].checksums(of: with.span.bytes, FrameShape(head: 3, body: 0, tail: 1))
        #expect(checked.map(\.expected) == ["5"])
        #expect(side.layouts[0].checksums(of: without.span.bytes, FrameShape(head: 2, body: 0, tail: 1)).isEmpty)
    }

    @Test(arguments: [
        ("[lenght, field]", "over: there is no field lenght"), ("[start]", "over should be two of start, body, end"),
        ("[start, high]", "over: there is no field high"),
    ]) func unknownFieldsAreFaults(over: String, message: String) {
        let yaml =
            "header: [{ length: { type: u8, bits: { 7: high } } }]\nframing: { rule: length-field, field: length }\n"
            + Self.trailer.replacing("[length, field]", with: over)
        let error = #expect(throws: FormatFileError.self) { try side(yaml) }
        #expect(error.map { "\($0)".contains(message) } == true, "\(error.map { "\($0)" } ?? "")")
    }
}
