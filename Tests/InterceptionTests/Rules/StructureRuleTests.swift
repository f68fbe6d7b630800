import Framing
import Interception
import Streams
import Testing

/// Rules do to frames of the rule `fields` what they do to the same frames of the rule `length-field`.
@Suite struct StructureRuleTests {
    private static let header = """
        header:
          - { length: u8 }
          - { mark: { type: u8, equals: 7, names: { 7: seven, 9: nine } } }
          - { flags: { type: u8, bits: { 1-3: mode, 4-7: kind } } }
          - { word: { type: u16, byteOrder: little, bits: { 2-5: low, 6-10: across } } }
          - { name: { type: string, size: 3 } }
          - { sum: { type: u8, checksum: xor8, over: [start, end] } }
        trailer: [{ id: u16 }, { check: { type: u16, checksum: CRC-16/MODBUS } }]
        body: text

        """

    private func format(_ rule: String) throws -> Format {
        try FormatLoader.load("format: x\n" + Self.header + "framing: { rule: \(rule) }", file: "x.yaml")
    }

    @Test(
        arguments: [
            "corrupt: checksum", "corrupt: checksum; bits: 5", "corrupt: head", "corrupt: fields.length",
            "corrupt: fields.name; bits: 3", "corrupt: fields.kind", "corrupt: fields.id", "segment: fields",
            "replace: { fields: { length: 9 } }; raw: true", "replace: { fields: { mark: 9 } }; raw: true",
            "replace: { fields: { kind: 9, mode: 2, id: 5 } }; raw: true", "replace: { fields: { kind: 9 } }",
            "replace: { fields: { flags: 145 }, body: { text: Hello } }", "replace: { fields: { mark: 9 } }",
            "replace: { fields: { length: 9 } }", "replace: { fields: { sum: 1 } }",
            "replace: { fields: { kind: 16 } }", "replace: { fields: { mark: nine } }",
            "replace: { fields: { mark: word } }", "corrupt: fields.across; bits: 2", "corrupt: fields.low",
            "replace: { fields: { across: 21, low: 9 } }", "replace: { fields: { across: 3 } }; raw: true",
        ])
    func theRuleDoesNotMatter(rule: String) throws {
        let (one, other) = (
            try format("length-field, field: length, counts: body"), try format("fields, body: length")
        )
        let fields = [
            Field("flags", .integer(0x5b)), Field("word", .integer(0x1234)), Field("name", .text("abc")),
            Field("id", .integer(770)),
        ]
        let bytes = try one.directions.fromClient.encode(fields, body: Array("hi".utf8))
        #expect(try other.directions.fromClient.encode(fields, body: Array("hi".utf8)) == bytes)
        func played(_ format: Format, _ seed: UInt64) throws -> Played {
            let rule = try RuleFile.rule(rule, number: 1, format: format)
            return try Played([rule], seed: seed, format, [Conversations.Piece(bytes: bytes, direction: .fromClient)])
        }
        for seed in UInt64(1)...20 {
            let (own, expected) = (try played(other, seed), try played(one, seed))
            #expect(own.writes.map(\.bytes) == expected.writes.map(\.bytes), "seed \(seed)")
            #expect(own.reports.map(\.detail) == expected.reports.map(\.detail), "seed \(seed)")
            // What is reported as done was done.
            let isDone = own.reports.allSatisfy { !$0.detail.hasPrefix("not done") }
            let isChange = !rule.hasPrefix("segment")
            #expect((own.passed.fromClient != bytes) == (isDone && isChange), "\(own.reports)")
        }
    }

    /// Only bits of that name are flipped, in whichever byte they are.
    @Test(arguments: [("mode", 0x0e, 2), ("across", 0x07c0, 3), ("low", 0x3c, 3)] as [(String, UInt64, Int)])
    func corruptingNamedBitsLeavesTheOthers(name: String, mask: UInt64, offset: Int) throws {
        let format = try format("fields, body: length")
        let bytes = try format.directions.fromClient.encode([Field("flags", .integer(0x5b))], body: [1])
        let rule = try RuleFile.rule("corrupt: fields.\(name); bits: 2", number: 1, format: format)
        for seed in UInt64(1)...50 {
            let played = try Played(
                [rule], seed: seed, format, [Conversations.Piece(bytes: bytes, direction: .fromClient)])
            let changed = zip(played.passed.fromClient, bytes).map { $0 ^ $1 }
            #expect(changed.enumerated().allSatisfy { (offset..<offset + 2).contains($0.offset) || $0.element == 0 })
            // The first byte is the lowest.
            let flipped = UInt64(changed[offset]) | UInt64(changed[offset + 1]) << 8
            #expect(flipped & ~mask == 0 && flipped.nonzeroBitCount == 2, "seed \(seed)")
        }
    }
}
