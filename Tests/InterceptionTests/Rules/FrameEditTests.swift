import Framing
import Interception
import Streams
import TestSupport
import Testing

/// `replace` and `corrupt`, on every field of every built-in format.
@Suite struct FrameEditTests {
    private struct Parts: Equatable {
        var fields: [Field]
        var body: [UInt8]
    }

    private func parts(_ frame: Framed.Frame, _ format: DirectionFormat) -> Parts {
        frame.bytes.withUnsafeBytes { raw in
            format.withContent(of: raw.bytes, frame.info.shape) { content, shape in
                Parts(
                    fields: format.fields(of: content, shape),
                    body: content.copied(shape.head..<shape.head + shape.body))
            }
        }
    }

    /// Another value of a field that its place can hold.
    private func other(_ value: FieldValue) -> FieldValue? {
        switch value {
        case .integer(let number): .integer(number == 0 ? 1 : number - 1)
        case .unsigned(let number): .unsigned(number == 0 ? 1 : number - 1)
        case .text(let text): text.isEmpty ? nil : .text(String(text.dropLast()) + (text.hasSuffix("x") ? "y" : "x"))
        case .bytes(let bytes): bytes.isEmpty ? nil : .bytes(bytes.dropLast() + [bytes[bytes.count - 1] ^ 1])
        default: nil
        }
    }

    private func yaml(_ value: FieldValue) -> String {
        switch value {
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .text(let text): JSONValue.text(text).compactText
        case .bytes(let bytes):
            "\"" + bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined() + "\""
        default: "null"
        }
    }

    /// Every field of the first frames of a conversation gets another value: the frame has that, and nothing else changes; what
    /// follows from lengths cannot be set.
    @Test(arguments: BuiltInFormats.names) func everyFieldCanBeReplaced(name: String) throws {
        let (format, pieces) = try Conversations.of(name)
        var edited = 0
        for direction in Direction.allCases {
            let side = format.directions[direction]
            let stream = pieces.filter { $0.direction == direction }.flatMap(\.bytes)
            let frames = Framed(stream, direction, format).frames
            for number in frames.indices.prefix(4) {
                let before = parts(frames[number], side)
                for field in before.fields {
                    guard let value = other(field.value) else { continue }
                    let rule = try RuleFile.rule(
                        "replace: { fields: { \"\(field.name)\": \(yaml(value)) } }; nth: \(number + 1); from: \(direction.sender)",
                        number: 1, format: format)
                    let played = try Played(
                        [rule], format, [Conversations.Piece(bytes: stream, direction: direction)])
                    let report = try #require(played.reports.first)
                    let after = Framed(played.passed[direction], direction, format)
                    #expect(after.frames.count == frames.count, "\(name) \(field.name)")
                    if report.detail.hasPrefix("not done") {
                        #expect(played.passed[direction] == stream, "\(name) \(field.name): \(report)")
                        continue
                    }
                    let changed = parts(after.frames[number], side)
                    #expect(changed.body == before.body, "\(name) \(field.name)")
                    let isDerived = changed == before
                    if !isDerived {
                        edited += 1
                        let differing = zip(changed.fields, before.fields).filter { $0 != $1 }.map(\.0)
                        #expect(
                            differing.contains { $0.name == field.name && $0.value == value },
                            "\(name) \(field.name): \(changed.fields) was \(before.fields)")
                    }
                    for (other, frame) in frames.enumerated() where other != number {
                        #expect(after.frames[other].bytes == frame.bytes, "\(name) \(field.name)")
                    }
                }
            }
        }
        // `chunk`-like formats have no fields.
        let hasFields = ["im-json", "im-magic", "len16-id", "tlv32"].contains(name)
        #expect(edited > 0 || !hasFields, "\(name)")
    }

    @Test func lengthsFollowTheBodyUnlessRaw() throws {
        let (format, pieces) = try Conversations.of("tlv32")
        let stream = pieces.filter { $0.direction == .fromClient }.flatMap(\.bytes)
        let first = try #require(Framed(stream, .fromClient, format).frames.first)
        func played(_ text: String) throws -> [UInt8] {
            let rule = try RuleFile.rule("\(text); nth: 1; from: client", number: 1, format: format)
            return try Played([rule], format, [Conversations.Piece(bytes: stream, direction: .fromClient)]).passed
                .fromClient
        }
        let longer = Framed(try played("replace: { body: { hex: \"00112233445566778899\" } }"), .fromClient, format)
        #expect(
            longer.unframed == 0
                && longer.frames.first?.bytes.suffix(10) == [0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99])
        let raw = try played("replace: { body: { hex: \"0011\" } }; raw: true")
        #expect(raw.count == stream.count - first.info.shape.body + 2)
        #expect(raw.prefix(first.info.shape.head) == first.bytes.prefix(first.info.shape.head))
    }

    /// Why a rule is not done is reported without the frame's values if some of the format's are secret.
    @Test func reasonsHideValuesOfFormatsWithSecrets() throws {
        func detail(_ secret: String) throws -> String {
            let format = try FormatLoader.load(
                """
                format: x
                header: [{ length: u8 }, { token: { type: string, size: 2 } }]
                framing: { rule: length-field, field: length, counts: body }
                \(secret)
                """, file: "x.yaml")
            let frame = try format.directions.fromClient.encode([Field("token", .text("ab"))], body: [1, 2, 3])
            let rule = try RuleFile.rule("replace: { fields: { length: 9 } }", number: 1, format: format)
            let played = try Played([rule], format, [Conversations.Piece(bytes: frame, direction: .fromClient)])
            return try #require(played.reports.first).detail
        }
        let reason = "which follows from the rest of the frame; raw: true overwrites it"
        #expect(try detail("") == "not done: length would be 3, \(reason)")
        #expect(try detail("secret: fields.token") == "not done: length would be another value, \(reason)")
    }

    @Test(arguments: ["anywhere", "head", "body"], [1, 3]) func corruptFlipsSoManyBits(place: String, bits: Int) throws
    {
        let (format, pieces) = try Conversations.of("len16-id")
        let rule = try RuleFile.rule(
            "corrupt: \(place); bits: \(bits); nth: 2; from: client", number: 1, format: format)
        let stream = pieces.filter { $0.direction == .fromClient }.flatMap(\.bytes)
        let frame = Framed(stream, .fromClient, format).frames[1]
        let played = try Played([rule], format, [Conversations.Piece(bytes: stream, direction: .fromClient)])
        let passed = played.passed.fromClient
        #expect(passed.count == stream.count)
        let flipped = zip(passed, stream).enumerated().filter { $1.0 != $1.1 }
        #expect(flipped.reduce(0) { $0 + ($1.element.0 ^ $1.element.1).nonzeroBitCount } == bits)
        let range =
            switch place {
            case "head": frame.info.offset..<frame.info.offset + frame.info.shape.head
            case "body": frame.info.offset + frame.info.shape.head..<frame.info.offset + frame.info.length
            default: frame.info.offset..<frame.info.offset + frame.info.length
            }
        #expect(flipped.allSatisfy { range.contains($0.offset) })
    }

    @Test func checksumsFollowFieldsAndCanBeBroken() throws {
        let format = try FormatLoader.load(
            """
            format: checked
            header: [{ size: u8 }, { kind: u8 }]
            trailer: [{ check: { type: u16, checksum: CRC-16/MODBUS } }]
            framing: { rule: length-field, field: size, counts: body, limit: 64 }
            """, file: "checked")
        let frame = try format.directions.fromClient.encode([Field("kind", .integer(3))], body: [1, 2, 3])
        func check(_ text: String) throws -> (bytes: [UInt8], isRight: Bool) {
            let rule = try RuleFile.rule(text, number: 1, format: format)
            let bytes = try Played([rule], format, [Conversations.Piece(bytes: frame, direction: .fromClient)]).passed
                .fromClient
            let found = try #require(Framed(bytes, .fromClient, format).frames.first)
            let side = format.directions.fromClient
            let results = bytes.withUnsafeBytes { side.layouts[0].checksums(of: $0.bytes, found.info.shape) }
            return (bytes, results.allSatisfy { $0.found == $0.expected } && results.count == 1)
        }
        #expect(try check("drop: fields.kind == 9").isRight)
        let edited = try check("replace: { fields: { kind: 7 } }")
        #expect(edited.isRight && edited.bytes[1] == 7)
        let raw = try check("replace: { fields: { kind: 7 } }; raw: true")
        #expect(!raw.isRight && raw.bytes[1] == 7)
        #expect(try !check("corrupt: checksum").isRight)
    }
}
