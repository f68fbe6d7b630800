import Expressions
import Testing

/// The meaning of expressions, over the fields of `Fields.sample`.
@Suite struct EvaluationTests {
    @Test(arguments: [
        #"type == "img""#, #"type = "img""#, #"type eq "img""#, "type == 'img'", #"type != "txt""#, #"type ne "txt""#,
        #"type == "img" && length > 1000"#, #"from == client and fields.targetID matches "^Cinent""#,
        "length >= 1448", "length ge 1448", "length <= 1448", "length < 1449", "length lt 1449", "length gt 0",
        "fields.size == 5", "fields.size < 10", "5 == fields.size", #"fields.size == "5""#, "fields.size == 5.0",
        #"fields.size != "5.0""#, "fields.size * 2 == 10", "type != 5", "from != server", #"type > "aaa""#,
        #"type in {"txt", "img"}"#, #"type not in {"txt", "heartA"}"#, "length in {1, 1000..2000}",
        "fields.size in {1..5}", "length in {fields.size, length}", #"type in {"a".."z"}"#,
        #"body.text contains "x""#, #"body.text contains "心""#, #"body.text startsWith "A心""#,
        #"body.text endsWith "second""#, #"body.text contains """#, #"body.bytes startsWith x"ffd8""#,
        #"body.bytes contains x"ff:e0 00""#, #"body.bytes endsWith x"00""#, #"body.bytes == x"ffd8ffe000""#,
        #"body.bytes matches "^\xff\xd8\xff""#, #"body.text matches "心跳""#, #"body.text == "A\u{5fc3}跳\x20x\nsecond""#,
        #"body.text matches "^\w.. \bx$" or body.text matches "(?m)x$""#, #"type ~ "^(img|txt)$""#,
        "(length - 2) * 8 > 100", "length - 2 * 8 == 1432", "length / 1000 == 1.448", "length % 1000 == 448",
        "-length == -1448", "- -length == 1448", "length + -8 == 1440", "7 / 2 == 3.5", "8 / 2 == 4", "-7 % 4 == -3",
        "flags & 0x80", "flags & 0x80 != 0", "flags & 1 == 0", "0xff == 255", "1e3 == 1000", "1.5e-1 == 0.15",
        "not heartbeat", "!heartbeat", "heartbeat == false", "heartbeat == 0", "not not type", "!type == 'txt'",
        "type exists", "heartbeat exists", "fields.empty exists", "not fields.nothing exists", "fields.zero exists",
        "type", "length", "body.bytes", "not fields.empty", "not fields.zero", "not fields.nothing", "true",
        "not false",
        "'0'", "fields.nothing or type", "type or fields.nothing", "false or true and true", "true or false and false",
        "not (fields.nothing == 1)", "fields['user-id'] == 7", #"fields["user-id"] in {7}"#, "fields.用户 == '甲'",
        "body.json.items[0].id == 2.5", "body.json.items.0.id < 3", "body.protobuf.1.2 == 18446744073709551615",
        "body.protobuf.1.2 > 9223372036854775807", "body.protobuf.1.2 > minimum", "minimum == -9223372036854775808",
        "minimum < -9223372036854775807", "body.protobuf.1.2 != 18446744073709551616.0",
        "body.protobuf.1.2 < 18446744073709551616.0", "9007199254740993 != 9007199254740992.0",
        "9007199254740993 > 9007199254740992.0", "9223372036854775807 < 9223372036854775808.0",
        "'18446744073709551617' > body.protobuf.1.2", "9223372036854775807 + 1 == 9223372036854775808",
        "minimum - 1 < minimum or minimum - 1 == minimum", "-0.5 > -1", "-1 < -0.5", "0 == -0.0", "1 < 1e300",
        "-1 > -1e300", "'90000000000000000000000000000000000000' > 8.6e37",
        "'-90000000000000000000000000000000000000' < -8.6e37",
        "((((type))))", "(heartbeat exists) == true", "type == 'img'and length", "type=='img'&&length>1000||false",
    ])
    func holds(_ text: String) throws {
        #expect(try Expression(text).evaluate(Fields.sample))
    }

    @Test(arguments: [
        #"type == "txt""#, #"type == "IMG""#, "heartbeat", "not type", "type == 5", "type < 5", "type > 5",
        "fields.nothing == 1", "fields.nothing != 1", "fields.nothing < 1", "fields.nothing >= 1",
        "1 != fields.nothing",
        "fields.nothing == fields.nothing", "fields.nothing != fields.nothing", "fields.nothing in {1, 2}",
        "fields.nothing exists", "fields.nothing contains 'a'", "fields.nothing matches ''", "fields.nothing",
        "fields.nothing + 1 > 0", "fields.nothing + 1 < 0", "-fields.nothing == 0", "length / 0 == 0",
        "length % 0 == 0",
        "length / 0 != 0", "type + 1 == 1", "length matches '1448'", "length contains '4'", "body.bytes == 5",
        "length contains fields.size", "heartbeat == 'false'", "body.bytes & 1", "fields.size == '5.0'",
        "body.text contains 'X'", "body.text startsWith 'x'", "body.text endsWith 'A心跳 x\nsecond and more'",
        "body.bytes contains x'ffff'", "body.text matches '^second'", "body.text matches 'x.second'",
        "fields.empty", "fields.zero", "flags & 1", "0.5 & 1 == 0", "length in {1..5}", "length in {2000..1000}",
        "not (type or fields.nothing)", "true and false", "false or false",
    ])
    func doesNotHold(_ text: String) throws {
        #expect(try !Expression(text).evaluate(Fields.sample))
    }

    @Test func notANumberEqualsNothing() throws {
        let source = Fields(values: ["x": .number(.nan), "y": .number(.infinity)])
        for text in ["x == x", "x < 1", "x >= 1", "1 <= x", "y < 1e308", "y <= 18446744073709551615", "x == y"] {
            #expect(try !Expression(text).evaluate(source), "\(text)")
        }
        #expect(try Expression("x != x and y > 18446744073709551615 and -y < -9223372036854775808").evaluate(source))
    }

    @Test func valuesAreComputed() throws {
        #expect(try Expression("fields.size").value(Fields.sample) == .text("5"))
        #expect(try Expression("length * 2").value(Fields.sample) == .integer(2896))
        #expect(try Expression("length > 2").value(Fields.sample) == .boolean(true))
        #expect(try Expression("18446744073709551615 * 4").value(Fields.sample) == .number(0x1p66))
        #expect(
            try Expression("18446744073709551615 * 18446744073709551615 + 1").value(Fields.sample) == .number(0x1p128))
    }

    @Test(arguments: [
        ("5", true), ("-5", true), ("+5", true), ("005", true), ("5.25", true), ("1e5", true), ("1.5E-3", true),
        ("340282366920938463463374607431768211456000", true), ("", false), ("+", false), ("5.", false), (".5", false),
        ("1e", false), ("e5", false), ("5 ", false), (" 5", false), ("0x5", false), ("nan", false), ("inf", false),
        ("1.2.3", false), ("1e5e5", false), ("--5", false), ("5-", false), ("5-5", false), ("٥", false), ("1e+", false),
    ])
    func textsCompareAsTheNumbersTheySpell(text: String, isNumber: Bool) {
        #expect((Value.text(text).compared(to: .integer(.min)) == .after) == isNumber)
    }

    @Test func pathsAreListedOnceInOrder() throws {
        let expression = try Expression("b.c > 1 and (a exists or b.c == a) and d[0]['x y'] in {e, 1..f}")
        #expect(expression.paths == [["b", "c"], ["a"], ["d", "0", "x y"], ["e"], ["f"]])
    }

    /// A field is asked for only if the truth depends on it, from the left.
    @Test(arguments: [
        ("a == 1 and b == 2", [0]), ("a == 0 and b == 2", [0, 1]), ("a == 0 or b == 2", [0]),
        ("a == 1 or b == 2", [0, 1]),
        ("not (a == 1 and b == 2)", [0]), ("(a == 1 or b == 0) and c exists", [0, 1, 2]), ("a in {b, c}", [0, 1]),
        ("a in {b..c}", [0, 1, 2]), ("a == 0 or b / c > 1", [0]),
    ])
    func onlyWhatDecidesIsAskedFor(text: String, expected: [Int]) throws {
        var asked: [Int] = []
        _ = try Expression(text).truth {
            asked.append($0)
            return .integer(0)
        }
        #expect(asked == expected)
    }

    /// What is not known decides nothing by itself, and what is known may decide in spite of it: `a` is 0, and nothing else is known.
    @Test(
        arguments: [
            ("a == 0", true), ("a == 1", false), ("b == 1", nil), ("a == 1 and b == 1", false),
            ("b == 1 and a == 1", false),
            ("a == 0 and b == 1", nil), ("a == 0 or b == 1", true), ("b == 1 or a == 0", true),
            ("a == 1 or b == 1", nil),
            ("not (b == 1 and a == 1)", true), ("not b", nil), ("b exists", nil), ("b matches 'x'", nil),
            ("a in {b, 0}", true), ("a in {b, 1}", nil), ("a in {b..9}", nil), ("a in {1..b}", nil), ("b in {0}", nil),
            ("a + b == 1", nil), ("-b == 1", nil), ("-a == 0", true), ("(a == b) == true", nil),
            ("a == 1 and b * c > 2", false),
        ] as [(String, Bool?)])
    func someFieldsMayDecide(text: String, expected: Bool?) throws {
        let expression = try Expression(text)
        #expect(expression.truth { expression.paths[$0] == ["a"] ? .integer(0) : nil } == expected)
    }

    @Test func aSourceNeedNotBeCopyable() throws {
        struct Borrowed: ~Copyable, FieldSource {
            func value(at path: [String]) -> Value { .integer(Int64(path.count)) }
        }
        #expect(try Expression("a.b.c == 3").evaluate(Borrowed()))
    }
}
