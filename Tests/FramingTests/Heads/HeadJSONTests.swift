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
