import Expressions
import Testing

/// Random expressions: printing is the inverse of parsing, and nothing traps.
@Suite struct PropertyTests {
    @Test func printingAndParsingGiveTheSame() throws {
        var random = SeededGenerator.printed("printing")
        for _ in 0..<20_000 {
            let text = condition(5, &random)
            let expression = try Expression(text)
            let printed = expression.description
            let again = try Expression(printed)
            #expect(again == expression, "\(text) became \(printed)")
            #expect(again.description == printed)
            #expect(again.value(Fields.sample) == expression.value(Fields.sample))
        }
    }

    /// What some fields decide, no values of the others change; and if all fields are known, nothing is undecided.
    @Test func whatIsDecidedStays() throws {
        var random = SeededGenerator.printed("deciding")
        var counts = [true: 0, false: 0, nil: 0] as [Bool?: Int]
        let values: [Value] = [
            .absent, .integer(5), .text(""), .number(-2.5), .boolean(true), .bytes([0, 255]), .text("x"),
        ]
        for _ in 0..<20_000 {
            let text = condition(3, &random)
            let expression = try Expression(text)
            let known = expression.paths.map { _ in Int.random(in: 0..<3, using: &random) > 0 }
            let first = expression.paths.map { _ in values.randomElement(using: &random) ?? .absent }
            let truth = expression.truth { known[$0] ? first[$0] : nil }
            counts[truth, default: 0] += 1
            for _ in 0..<4 {
                let all = first.indices.map { known[$0] ? first[$0] : values.randomElement(using: &random) ?? .absent }
                var asked: Set<Int> = []
                let whole = expression.truth {
                    asked.insert($0)
                    return all[$0]
                }
                #expect(whole != nil, "\(text)")
                #expect(truth == nil || truth == whole, "\(text)")
                // What was not asked for does not matter.
                #expect(expression.truth { asked.contains($0) ? all[$0] : nil } == whole, "\(text)")
            }
        }
        #expect(counts.values.allSatisfy { $0 > 1_000 }, "\(counts)")
    }

    @Test func garbageNeverTraps() {
        var random = SeededGenerator.printed("garbage")
        var accepted = 0
        for round in 0..<60_000 {
            var text = ""
            if round % 3 == 0 {
                for _ in 0..<Int.random(in: 0...40, using: &random) {
                    text.unicodeScalars.append(Unicode.Scalar(UInt32.random(in: 0...0x1f000, using: &random)) ?? " ")
                }
            } else if round % 3 == 1 {
                for _ in 0..<Int.random(in: 0...20, using: &random) {
                    text += PropertyTests.pieces.randomElement(using: &random) ?? ""
                }
            } else {
                var characters = Array(condition(3, &random))
                for _ in 0..<3 where !characters.isEmpty {
                    let index = Int.random(in: 0..<characters.count, using: &random)
                    if Bool.random(using: &random) {
                        characters.remove(at: index)
                    } else {
                        characters.insert(characters.randomElement(using: &random) ?? " ", at: index)
                    }
                }
                text = String(characters)
            }
            do throws(ExpressionError) {
                let expression = try Expression(parsing: text)
                accepted += 1
                _ = expression.evaluate(Fields.sample)
                let again = try Expression(parsing: expression.description)
                #expect(again == expression, "\(text)")
            } catch {
                #expect((1...text.count + 1).contains(error.column), "\(text)")
                #expect(!error.rendered.isEmpty)
            }
        }
        #expect(accepted > 1000)
    }

    static let pieces = [
        "type", "length", "fields.size", "a[0]", "a['x y']", "(", ")", "{", "}", "[", "]", "==", "!=", "<", "<=", "&&",
        "||", "!", "~", "and", "or", "not", "in", "exists", "contains", "matches", "startsWith", "\"", "'", "x\"ff\"",
        "'a+b'", "\"\\n\"", "\\", "5", "-", "0x1f", "1.5", "1e9", "..", ".", ",", " ", " ", " ", " ", "+", "*", "/",
        "%",
        "&", "true", "client", "心", "\u{1b}[31m", "\u{202e}", "e\u{301}", "'(a|b)*'", "'a{2,3}'", "'[^x]'", "'\\b'",
        "\n",
    ]

    private func condition(_ depth: Int, _ random: inout SeededGenerator) -> String {
        guard depth > 0 else { return operand(0, &random) }
        let left = condition(depth - 1, &random)
        switch Int.random(in: 0..<13, using: &random) {
        case 0: return "\(left) and \(condition(depth - 1, &random)) and type"
        case 1: return "(\(left) or \(condition(depth - 1, &random)))"
        case 2: return "(\(left)) || length"
        case 3: return "not (\(left))"
        case 4: return "!" + left
        case 5: return "(\(left)) == true"
        case 6: return "\(operand(depth, &random)) exists".replacingNonField
        case 7: return "fields.size not in {\(operand(1, &random)), \(operand(1, &random))..9}"
        case 8: return #"type matches 'a"+\'b'"#
        case 9: return #"body.text contains "\"\\\t\u{1b}心""#
        case 10: return "\(operand(depth, &random)) <= \(operand(depth, &random))"
        case 11: return "fields['a \"b'] startsWith x'00 ff'"
        default: return "\(operand(depth, &random)) != \(operand(depth, &random))"
        }
    }

    private func operand(_ depth: Int, _ random: inout SeededGenerator) -> String {
        guard depth > 0 else {
            let leaves = [
                "length", "fields.size", "a[12].b", "5", "-5", "-0.0", "1.5e300", "9223372036854775808", "- -3", "1e-7",
                "-9223372036854775808", "-(4)", "-length", "body.protobuf.1.2", "类型",
            ]
            return leaves.randomElement(using: &random) ?? "a"
        }
        let operation = ["+", "-", "*", "/", "%", "&"].randomElement(using: &random) ?? "+"
        let left = operand(depth - 1, &random)
        let right = operand(depth - 1, &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0: return "\(left) \(operation) \(right)"
        case 1: return "(\(left) \(operation) \(right))"
        case 2: return "-(\(left))"
        default: return left
        }
    }
}

extension String {
    /// `exists` of a field, whatever precedes it.
    fileprivate var replacingNonField: String { "body.text exists or (\(dropLast(" exists".count)))" }
}
