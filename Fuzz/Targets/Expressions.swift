import Expressions

/// Byte 0, bit 0: an expression or a pattern. The rest is its text: it is parsed and evaluated, and what it says of itself
/// parses to the same; or the error has a column.
func fuzzExpressions(_ input: FuzzInput) {
    var input = input
    let isPattern = input.byte() & 1 == 1
    let text = input.text
    do throws(ExpressionError) {
        if isPattern {
            let pattern = try Pattern(parsing: text)
            _ = pattern.matches(text)
            _ = pattern.matches(.bytes([0xff, 0xd8, 0x61, 0xe5, 0xbf, 0x83, 0x0a, 0x31]))
            let count = pattern.prefixLength(in: Array(text.utf8).span.bytes) ?? 0
            expect(count <= text.utf8.count, "a prefix of \(count) bytes of \(text.utf8.count)")
        } else {
            let expression = try Expression(parsing: text)
            let value = expression.value(Sample())
            _ = expression.evaluate(Sample())
            reparse(expression, value, text)
        }
    } catch {
        expect((1...text.count + 1).contains(error.column), "\(error) is not in the text")
        expect(!error.rendered.isEmpty, "an error without text")
    }
}

private func reparse(_ expression: Expression, _ value: Value, _ text: String) {
    let description = expression.description
    do throws(ExpressionError) {
        let again = try Expression(parsing: description)
        expect(again == expression, "\(text) became \(description)")
        expect("\(again.value(Sample()))" == "\(value)", "\(description) is worth something else than \(text)")
    } catch {
        // Brackets and escapes make it longer: what only just fitted may not fit any more.
        expect(description.utf8.count > Expression.sizeLimit, "\(text) became \(description): \(error)")
    }
}

/// A frame with one field of every kind.
private struct Sample: FieldSource {
    func value(at path: [String]) -> Value {
        switch path.first {
        case "type": .text("img")
        case "length": .integer(1448)
        case "heartbeat": .boolean(false)
        case "flags": .unsigned(.max)
        case "minimum": .integer(.min)
        case "fields": .text("A心跳 x\nsecond")
        case "body": .bytes([0xff, 0xd8, 0x00])
        case "a": .number(2.5)
        default: .absent
        }
    }
}
