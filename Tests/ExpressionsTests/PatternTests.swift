import Expressions
import Testing

/// The language of `matches`, and that no pattern takes long.
@Suite struct PatternTests {
    @Test(
        arguments: [
            ("", "", true), ("", "abc", true), ("abc", "xabcx", true), ("abc", "ab", false), ("a.c", "abc", true),
            ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true), ("a.c", "a心c", true), ("^abc$", "abc", true),
            ("^abc$", "abc\n", false), ("^b", "a\nb", false), ("(?m)^b", "a\nb", true), ("(?m)a$", "a\nb", true),
            ("\\Ab", "ab", false), ("a\\z", "ba", true), ("[a-c]+", "xxb", true), ("[^a-c]", "abc", false),
            ("[^a-c]", "abd", true), ("[]a]", "]", true), ("[^]a]", "]", false), ("[a-]", "-", true),
            ("[-a]", "-", true),
            ("[\\d-]", "-", true), ("[\\]x]", "]", true), ("[心跳]", "跳", true), ("[\\u{4e00}-\\u{9fff}]", "心", true),
            ("\\d{3}", "12", false), ("\\d{3}", "123", true), ("^\\d{2,3}$", "1234", false),
            ("^\\d{2,}$", "1234", true),
            ("^\\D\\W\\S$", "a!b", true), ("\\w+\\s\\w+", "ab cd", true), ("\\w", "心", false),
            ("^[^\\W\\d]+$", "a_b", true),
            ("^[^\\W\\d]+$", "a1", false), ("\\bfoo\\b", "a foo b", true), ("\\bfoo\\b", "afoo", false),
            ("\\Boo", "foo", true), ("\\b", "", false), ("\\B", "", true), ("\\bfoo", "心foo", true),
            ("a|b|", "c", true), ("^(a|b)+$", "abab", true), ("^(?:ab|cd)*$", "abcdab", true),
            ("^(?:ab)*$", "aba", false),
            ("^(?P<name>a)(?<other>b)$", "ab", true), ("(?i)ABC", "xaBcx", true), ("(?i:a)b", "Ab", true),
            ("(?i:a)b", "AB", false), ("(?i)[a-c]", "B", true), ("(?i)é", "É", true), ("(?i)[^a]", "A", false),
            ("a(?i)b|c", "C", true), ("(a(?i)b)c", "aBC", false), ("(?-i)a", "A", false), ("(?i)a(?-i)b", "AB", false),
            ("a*?b", "aaab", true), ("a+?", "b", false), ("a??b", "b", true), ("a{2}?", "aa", true),
            ("a{", "a{", true), ("a{,2}", "a{,2}", true), ("{\"type\"", "{\"type\":1}", true), ("a{2", "a{2", true),
            ("\\x41\\x{42}\\u{43}", "ABC", true),
            ("\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\^\\$\\\\\\/\\\"\\-", ".*+?()[]{}|^$\\/\"-", true),
            ("\\t\\n\\r\\0", "\t\n\r\0", true), ("^(a*)*$", "aaaa", true), ("^(a|b*)*c$", "abbac", true),
            ("()+x", "x", true),
            ("^(?:a?){3}$", "aa", true), ("^(?:a{2}){2}$", "aaaa", true), ("^(?:a{2}){2}$", "aaa", false),
            ("^*a", "a", true),
            ("(^a|b)c", "bc", true), ("(^a|b)c", "xac", false), ("x{0}y", "y", true), ("^x{0,0}$", "", true),
            ("a$|b", "ab", true), ("$a", "a", false), ("e\u{301}", "e\u{301}", true), ("é", "e\u{301}", false),
            ("^.$", "👍", true), ("^..$", "e\u{301}", true), ("^Cinent", "CinentB", true), ("abab", "aababab", true),
        ] as [(String, String, Bool)])
    func matchesAsRE2Does(pattern: String, text: String, matches: Bool) throws {
        #expect(try Pattern(parsing: pattern).matches(text) == matches)
    }

    @Test(
        arguments: [
            ("*a", 1, "there is nothing before `*` to repeat"), ("a|+", 3, "there is nothing before `+` to repeat"),
            ("({2})", 2, "there is nothing before `{` to repeat"), ("a**", 3, "a count cannot follow a count"),
            ("a{1000}{1000}", 8, "a count cannot follow a count"), ("a*+", 3, "possessive counts are not supported"),
            ("(a{1000}){1000}", 10, "the pattern is too large: its repetitions make more than 4096 steps"),
            ("((((a{9}){9}){9}){9}){9}", 22, "the pattern is too large: its repetitions make more than 4096 steps"),
            ("((){1000}){1000}", 11, "the pattern is too large: its repetitions make more than 4096 steps"),
            ("a{1001}", 3, "counts go up to 1000"), ("a{99999999999999999999}", 3, "counts go up to 1000"),
            ("a{3,2}", 2, "the count's upper limit is below its lower one"),
            ("a)", 2, "this `)` closes no group"), ("x(a", 2, "the group that begins here has no `)`"),
            ("x[a", 2, "the set that begins here has no `]`"), ("[]", 1, "the set that begins here has no `]`"),
            ("[z-a]", 2, "the range ends before it begins"), ("[\\d-z]", 2, "a range cannot begin with a class"),
            ("[a-\\d]", 4, "a range cannot end with a class"), ("[[:alpha:]]", 2, "POSIX classes are not supported"),
            ("a\\", 2, "nothing follows this backslash"), ("[a\\", 3, "nothing follows this backslash"),
            ("a\\q", 2, "`\\q` is no escape"), ("[\\b]", 2, "`\\b` is no escape"), ("a\\心", 2, "`\\心` is no escape"),
            ("(a)\\1", 4, "back references are not supported: they cannot be matched in linear time"),
            ("x(?=a)", 2, "lookaround is not supported: it cannot be matched in linear time"),
            ("(?!a)", 1, "lookaround is not supported: it cannot be matched in linear time"),
            ("(?<=a)", 1, "lookaround is not supported: it cannot be matched in linear time"),
            ("(?<!a)", 1, "lookaround is not supported: it cannot be matched in linear time"),
            ("(?>a)", 1, "atomic groups are not supported"), ("\\pL", 1, "Unicode properties are not supported"),
            ("(?x)", 3, "expected `:`, `i`, `m`, `s` or `P<name>` after `(?`, found `x`"),
            ("(?", 3, "expected `:`, `i`, `m`, `s` or `P<name>` after `(?`, found the end of the pattern"),
            ("(?P<", 5, "expected a group's name and `>`, found the end of the pattern"),
            ("(?P<a b>c)", 6, "expected a group's name and `>`, found ` `"),
            ("\\x4", 1, "expected a character's number after `\\x`: `\\x41` or `\\x{5fc3}`"),
            ("\\u{110000}", 1, "expected a character's number after `\\u`: `\\x41` or `\\u{5fc3}`"),
            ("\\u{d800}", 1, "expected a character's number after `\\u`: `\\x41` or `\\u{5fc3}`"),
        ] as [(String, Int, String)])
    func errorsPointAtTheColumn(pattern: String, column: Int, message: String) {
        let error = #expect(throws: ExpressionError.self) { try Pattern(parsing: pattern) }
        #expect(error?.column == column)
        #expect(error?.message == message)
    }

    @Test(
        arguments: [
            "(a*)*b", "(a|a)*b", "(a+)+b", "(a|aa)+$b", "a*a*a*a*a*a*a*b", "(?:a?){500}a{500}b", "(.*)*=",
            "^(([a-z])+.)+[A-Z]$",
            "((a{0,10}){0,10}){0,10}b",
        ])
    func noPatternIsExponential(pattern: String) throws {
        let compiled = try Pattern(parsing: pattern)
        let text = String(repeating: "a", count: 2000)
        let took = ContinuousClock().measure { #expect(!compiled.matches(text)) }
        #expect(took < .seconds(20))
        #expect(compiled.matches(text + "b=Z") == !pattern.contains("$b"))
    }

    @Test func bytesThatAreNoTextStandForThemselves() throws {
        let jpeg: [UInt8] = [0xff, 0xd8, 0xff, 0xe0]
        #expect(try Pattern(parsing: "^\\xff\\xd8.[\\xe0-\\xef]$").matches(.bytes(jpeg)))
        #expect(try !Pattern(parsing: "^\\xff$").matches(.bytes(jpeg)))
        // Valid UTF-8 inside bytes is text; overlong forms, surrogates and truncated sequences are not.
        #expect(try Pattern(parsing: "^心$").matches(.bytes([0xe5, 0xbf, 0x83])))
        #expect(try Pattern(parsing: "^..$").matches(.bytes([0xe5, 0xbf])))
        #expect(try Pattern(parsing: "^..$").matches(.bytes([0xc0, 0x80])))
        #expect(try Pattern(parsing: "^...$").matches(.bytes([0xed, 0xa0, 0x80])))
        #expect(try Pattern(parsing: "^....$").matches(.bytes([0xf4, 0x90, 0x80, 0x80])))
        #expect(try Pattern(parsing: "^.$").matches(.bytes([0xf4, 0x8f, 0xbf, 0xbf])))
    }

    /// Swift's own regular expressions are the oracle: they backtrack, so texts are short; their `\b` differs.
    @Test func agreesWithSwiftsRegex() throws {
        var random = SeededGenerator.printed("patterns")
        let texts = (0..<24).map { _ in
            String(
                (0..<Int.random(in: 0...7, using: &random)).map { _ in "abc1 _".randomElement(using: &random) ?? "a" })
        }
        var matched = 0
        for _ in 0..<1500 {
            let source = pattern(3, &random)
            let ours = try Pattern(parsing: source)
            let oracle = try Regex(source).matchingSemantics(.unicodeScalar)
            for text in texts {
                let expected = try oracle.firstMatch(in: text) != nil
                #expect(ours.matches(text) == expected, "\(source) on \"\(text)\"")
                matched += expected ? 1 : 0
            }
        }
        #expect(matched > 1000)
    }

    private func pattern(_ depth: Int, _ random: inout SeededGenerator) -> String {
        let atoms = [
            "a", "b", "c", "1", ".", "\\d", "\\w", "\\s", "[ab]", "[^a]", "[a-c1]", "\\D", "\\W", "^", "$",
        ]
        guard depth > 0 else { return atoms.randomElement(using: &random) ?? "a" }
        let inner = pattern(depth - 1, &random)
        switch Int.random(in: 0..<8, using: &random) {
        case 0: return "(\(inner)|\(pattern(depth - 1, &random)))"
        case 1: return "(?:\(inner))*"
        case 2: return "(?:\(inner))+?"
        case 3: return "(?:\(inner))?"
        case 4: return "(?:\(inner)){1,2}"
        default: return inner + pattern(depth - 1, &random)
        }
    }

    @Test func garbageNeverTraps() {
        var random = SeededGenerator.printed("garbage patterns")
        let alphabet = Array("ab(|)*+?{}[]^$.\\,-12:<>=!PixudDwbB\"心 ".unicodeScalars)
        for _ in 0..<60_000 {
            var source = ""
            for _ in 0..<Int.random(in: 0...24, using: &random) {
                source.unicodeScalars.append(alphabet.randomElement(using: &random) ?? "a")
            }
            do throws(ExpressionError) {
                _ = try Pattern(parsing: source).matches("abab12 心 \n ba")
            } catch {
                #expect((1...source.count + 1).contains(error.column), "\(source)")
            }
        }
    }
}
