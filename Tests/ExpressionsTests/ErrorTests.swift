import Expressions
import Testing

/// Every error names its column and the problem.
@Suite struct ErrorTests {
    @Test(
        arguments: [
            ("", 1, "expected a value, found the end"),
            ("   ", 4, "expected a value, found the end"),
            ("type ==", 8, "expected a value, found the end"),
            ("type == )", 9, "expected a value, found `)`"),
            ("(type", 6, "expected an operator or `)`, found the end"),
            ("type)", 5, "expected an operator or the end, found `)`"),
            ("type length", 6, "expected an operator or the end, found `length`"),
            ("a == b == c", 8, "expected `and`, `or` or the end (comparisons do not chain), found `==`"),
            ("1 < a < 5", 7, "expected `and`, `or` or the end (comparisons do not chain), found `<`"),
            ("a exists == 1", 10, "expected `and`, `or` or the end (comparisons do not chain), found `==`"),
            ("and a", 1, "expected a value, found `and`"),
            ("a or or b", 6, "expected a value, found `or`"),
            ("a == not b", 6, "expected a value, found `not`"),
            ("a not b", 7, "expected `in` after `not`, found `b`"),
            ("a | b", 3, "expected `||`, found `|`"),
            ("a # b", 3, "expected an expression, found `#`"),
            ("类型 == “x”", 7, "expected an expression, found `“`"),
            ("e\u{301}e\u{301} == #", 7, "expected an expression, found `#`"),
            ("a in b", 6, "expected `{` after `in`, found `b`"),
            ("a in {}", 7, "expected a value, found `}`"),
            ("a in {1, }", 10, "expected a value, found `}`"),
            ("a in {1 2}", 9, "expected `,` or `}`, found `2`"),
            ("a in {1..}", 10, "expected a value, found `}`"),
            ("a in {1", 8, "expected `,` or `}`, found the end"),
            ("fields.", 8, "expected a name after `.`, found the end"),
            ("fields.-x", 8, "expected a name after `.`, found `-`"),
            ("a[", 3, "expected an index, a name in quotes, or name=value, found the end"),
            ("a[x]", 4, "expected `=`, found `]`"),
            ("a[1", 4, "expected `]`, found the end"),
            ("a[\"x\" ]", 6, "expected `]`, found ` `"),
            ("5 > 5abc", 6, "expected an operator after the number, found `abc`"),
            ("0x", 3, "expected hexadecimal digits after `0x`, found the end"),
            ("0xfg", 4, "expected an operator after the number, found `g`"),
            ("a == 18446744073709551616", 6, "the number `18446744073709551616` does not fit 64 bits"),
            ("0x10000000000000000", 1, "the number `0x10000000000000000` does not fit 64 bits"),
            ("a == -9223372036854775809", 6, "the number does not fit 64 bits"),
            ("1e999", 1, "the number `1e999` is too large"),
            ("type == \"img", 9, "the string that begins here has no closing quote"),
            ("type == \"img\\\"", 9, "the string that begins here has no closing quote"),
            ("type == 'img\\", 9, "the string that begins here has no closing quote"),
            (
                #"a == "x\q""#, 8,
                #"expected an escape (`\"` `\'` `\\` `\n` `\r` `\t` `\0` `\x41` `\u{…}`), found `\q`"#
            ),
            (#"a == "\x4""#, 7, #"expected two hexadecimal digits after `\x`, found `4`"#),
            (#"a == "\xff""#, 7, #"`\x` stops at 7f in text: write bytes as x"…", characters as \u{…}"#),
            (#"a == "\u{d800}""#, 7, #"expected a character's number as `\u{…}`, found `\u`"#),
            (#"a == "\u41""#, 7, #"expected a character's number as `\u{…}`, found `\u`"#),
            (#"a == x"f""#, 9, #"expected a hexadecimal digit, found `"`"#),
            (#"a == x"fg""#, 9, #"expected a hexadecimal digit, found `g`"#),
            (#"a == x"ff"#, 7, "the string that begins here has no closing quote"),
            ("exists", 1, "expected a value, found `exists`"),
            ("5 exists", 3, "`exists` needs a field before it"),
            ("a + 1 exists", 7, "`exists` needs a field before it"),
            ("a contains 5", 12, "expected text or bytes after `contains`, found a number"),
            ("5 contains 'a'", 1, "expected text or bytes before `contains`, found a number"),
            ("a startsWith (b == c)", 14, "expected text or bytes after `startsWith`, found a condition"),
            ("a endsWith true", 12, "expected text or bytes after `endsWith`, found a condition"),
            ("(a + 1) matches 'x'", 1, "expected text or bytes before `matches`, found a number"),
            ("a matches b", 11, "expected a pattern in quotes, found `b`"),
            ("a matches 5", 11, "expected a pattern in quotes, found `5`"),
            ("a + 'x' > 1", 5, "expected a number after `+`, found text"),
            ("'x' * 2", 1, "expected a number before `*`, found text"),
            ("1 + (a and b)", 5, "expected a number after `+`, found a condition"),
            ("a - true", 5, "expected a number after `-`, found a condition"),
            ("-'x'", 2, "expected a number after `-`, found text"),
            ("a matches \"(b\"", 12, "the group that begins here has no `)`"),
            ("a matches \"\\\"+(\" and b", 15, "the group that begins here has no `)`"),
            ("a matches '心{2,1}'", 13, "the count's upper limit is below its lower one"),
            ("a matches 'x\\1'", 13, "back references are not supported: they cannot be matched in linear time"),
        ] as [(String, Int, String)])
    func errorsPointAtTheColumn(text: String, column: Int, message: String) {
        let error = #expect(throws: ExpressionError.self) { try Expression(text) }
        #expect(error?.column == column)
        #expect(error?.message == message)
        #expect(error?.source == text)
    }

    @Test func fieldsCanBeRefused() {
        let error = #expect(throws: ExpressionError.self) {
            try Expression(parsing: "length > 1 and fileds.size == 5") { path in
                path[0] == "fileds" ? "there is no field `fileds`; did you mean `fields`?" : nil
            }
        }
        #expect(error?.column == 16)
        #expect(error?.message == "there is no field `fileds`; did you mean `fields`?")
    }

    @Test func theCaretStandsBelowTheColumn() throws {
        let error = try #require(throws: ExpressionError.self) { try Expression("类型 == 'x' &&\u{1b} )") }
        #expect(error.expected == "an expression")
        #expect(error.found == "`·`")
        #expect(
            error.rendered == """
                column 13: expected an expression, found `·`
                  类型 == 'x' &&· )
                                ^
                """)
    }

    @Test func onlyTheLineOfTheErrorIsShown() throws {
        let error = try #require(throws: ExpressionError.self) { try Expression("a ==\n  ) or\nb") }
        #expect(error.column == 8)
        #expect(error.rendered == "column 8: expected a value, found `)`\n    ) or\n    ^")
    }

    @Test func longTextsAreCut() throws {
        let text = String(repeating: "a or ", count: 100) + ")" + String(repeating: " or a", count: 100)
        let error = try #require(throws: ExpressionError.self) { try Expression(text) }
        let lines = error.rendered.split(separator: "\n")
        #expect(error.column == 501)
        #expect(lines.allSatisfy { $0.count < 130 })
        #expect(lines[1].dropFirst(lines[2].count - 1).first == ")")
    }

    @Test(
        arguments: [
            (String(repeating: "(", count: 100_000), 33), (String(repeating: "!", count: 100_000), 33),
            (String(repeating: "-", count: 100_000) + "a", 33), (String(repeating: "not ", count: 50_000), 129),
            (String(repeating: "a+", count: 100_000), 201), (String(repeating: "a or ", count: 50_000), 50_001),
            (String(repeating: "a in {1, ", count: 20_000), 9), (String(repeating: "a", count: 300_000), 1),
            ("a matches '" + String(repeating: "(", count: 100_000) + "'", 44),
        ] as [(String, Int)])
    func hostileSizesAreErrors(text: String, column: Int) throws {
        let error = try #require(throws: ExpressionError.self) { try Expression(text) }
        #expect(abs(error.column - column) < 2 || column == 9, "\(error)")
        #expect(error.rendered.utf8.count < 1000)
    }

    @Test func longConditionsAreNoNesting() throws {
        let expression = try Expression("false" + String(repeating: " or false", count: 4000) + " or true")
        #expect(expression.evaluate(Fields.sample))
        #expect(Set([expression]).contains(expression))
    }
}
