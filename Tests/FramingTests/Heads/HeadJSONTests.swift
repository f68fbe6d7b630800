import Streams
import Testing

@testable import Framing

/// What is written straight into lines is what values and texts would be.
@Suite struct HeadJSONTests {
    @Test func numbers() {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var values: [Int] = Array(-1_100...1_100) + [.min, .max]
        var power = 1
        for _ in 0..<18 {
            power *= 10
            values += [power - 1, power, power + 1, -power, 1 - power]
        }
        for _ in 0..<10_000 {
            values.append(Int.random(in: .min ... .max, using: &generator) >> Int.random(in: 0...63, using: &generator))
        }
        for value in values {
            var bytes = Array("x".utf8)
            bytes.append(upTo: JSONOutput.longestNumber) { JSONOutput.integer(value, into: &$0) }
            #expect(bytes == Array("x\(value)".utf8), "seed \(seed)")
        }
        var bytes: [UInt8] = []
        bytes.append(upTo: JSONOutput.longestNumber) { JSONOutput.decimal(.max, into: &$0) }
        #expect(bytes == Array("18446744073709551615".utf8))
    }

    /// What is read of a head and written again keeps every digit.
    @Test(arguments: [
        "123456789012345678901234", "-0.12345678901234567890", "1e400", "18446744073709551616", "0.30000000000000004",
        "1.5", "9007199254740993", "-9223372036854775809", "100000000000000000000.0",
    ])
    func numbersKeepTheirDigits(number: String) throws {
        let value = try JSONValue(parsing: Array(number.utf8).span.bytes)
        let field = try #require(value.scalar)
        var written: [UInt8] = []
        JSONOutput.value(field, into: &written)
        #expect(String(decoding: written, as: UTF8.self) == number)
        let double = try #require(Double(number))
        if double.isFinite { #expect(field.double == double) }
    }

    /// Of members with the same name the last counts; names are the same if their bytes are.
    @Test func membersOfTheSameName() throws {
        let format = try #require(try BuiltInFormats.format(named: "im-json"))
        let head = try #require(format.directions.fromClient.layouts[0].head as? JSONHead)
        let text = "{\"b\":1,\"\u{e9}\":2,\"b\":3,\"e\u{301}\":4,\"a\":5,\"b\":6}"
        let fields = head.fields(of: Array(text.utf8).span.bytes)
        #expect(fields.map(\.value) == [.integer(5), .integer(6), .integer(4), .integer(2)])
    }

    /// The heads of all built-in formats, with any bytes.
    @Test func fields() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        var compared = 0
        let all =
            try BuiltInFormats.all() + BuiltInFormats.ruleNames.compactMap { try BuiltInFormats.format(named: $0) }
        for format in all {
            for layout in format.directions.fromClient.layouts {
                guard let head = layout.head as? BinaryHead, let length = head.fixedLength else { continue }
                for _ in 0..<200 {
                    let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
                    var (written, expected): ([UInt8], [UInt8]) = ([], [])
                    head.writeFields(of: bytes.span.bytes, into: &written)
                    JSONOutput.object(head.fields(of: bytes.span.bytes), into: &expected)
                    #expect(written == expected, "\(format.name), seed \(seed), \(bytes)")
                    guard head.texts.areNumbers, !head.texts.fields.isEmpty else { continue }
                    var numbers: [UInt8] = []
                    numbers.append(upTo: head.texts.room) { head.texts.writeNumbers(bytes.span.bytes, into: &$0) }
                    #expect(numbers == expected, "\(format.name), seed \(seed), \(bytes)")
                    compared += 1
                }
            }
        }
        #expect(compared >= 200)
    }
}
