/// The small parts that schemas consist of.
extension KeySchema {
    /// What kinds of values have in common, by the names that they are referred to.
    static let simple: [(String, SchemaJSON)] = [
        ("parameter", text("^\\$.+", "`$name` stands for a parameter's value")),
        (
            "text",
            described(
                .object([("type", .strings(["string", "number", "boolean"]))]), "text; numbers are taken as written")
        ),
        (
            "number",
            text("^(-?(0x[0-9A-Fa-f]+|[0-9]+)|\\$.+)$", "a whole number as text, decimal or 0x…, or a parameter")
        ),
        (
            "boolean",
            described(
                choice([
                    .object([("type", .string("boolean"))]),
                    .object([("enum", .strings(["true", "false", "yes", "no"]))]),
                    reference("parameter"),
                ]), "true or false")
        ),
        (
            "bytes",
            described(
                .object([
                    ("type", .strings(["string", "number"])), ("not", .object([("const", .string(""))])),
                ]), "bytes as text, in double quotes with \\n, \\r, \\0; or as 0x and hex digits if they are not text")
        ),
        (
            "byteCount",
            described(
                choice([
                    integer(1...Int(Int32.max)), text("^([0-9_]+ *(B|KiB|MiB|GiB|kB|MB)?|\\$.+)$", nil),
                ]), "a count of bytes, such as 64 KiB")
        ),
        ("interval", text("^([0-9._]+ *(ms|s|min|h)|\\$.+)$", "a length of time, such as 200 ms, 1 s or 5 min")),
        ("condition", text(nil, "a condition on a frame, such as type == \"login\"")),
        (
            "expression",
            described(
                .object([("type", .strings(["string", "integer", "boolean"]))]),
                "an expression over the fields that come before, such as size + 4 or flags == 1")
        ),
    ]

    /// A mapping with one key.
    static let single: [(String, SchemaJSON)] = [
        ("type", .string("object")), ("minProperties", .integer(1)), ("maxProperties", .integer(1)),
    ]

    static func reference(_ name: String) -> SchemaJSON { .object([("$ref", .string("#/$defs/\(name)"))]) }

    static func description(_ meaning: String) -> (String, SchemaJSON) {
        ("description", .string(meaning.withoutMarkdown.asSentence))
    }

    /// A schema with a description.
    static func described(_ schema: SchemaJSON, _ meaning: String) -> SchemaJSON {
        .object(schema.members + [description(meaning)])
    }

    /// One word, or one of several; or a parameter that stands for one.
    static func words(_ words: [String]) -> SchemaJSON {
        if words.count == 1 { return .object([("const", .string(words[0]))]) }
        return choice([.object([("enum", .strings(words))]), reference("parameter")])
    }

    static func integer(_ range: ClosedRange<Int>) -> SchemaJSON {
        .object(
            [("type", .string("integer"))]
                + (range.lowerBound == .min ? [] : [("minimum", .integer(range.lowerBound))])
                + (range.upperBound == .max ? [] : [("maximum", .integer(range.upperBound))]))
    }

    /// One of several schemas; choices inside it are taken apart.
    static func choice(_ schemas: [SchemaJSON]) -> SchemaJSON {
        let flat = schemas.flatMap { schema -> [SchemaJSON] in
            if schema.members.count == 1, schema.members[0].0 == "anyOf", case .array(let inner) = schema.members[0].1 {
                return inner
            }
            return [schema]
        }
        return flat.count == 1 ? flat[0] : .object([("anyOf", .array(flat))])
    }

    private static func text(_ pattern: String?, _ meaning: String?) -> SchemaJSON {
        .object(
            [("type", .string("string"))] + (pattern.map { [("pattern", .string($0))] } ?? [])
                + (meaning.map { [description($0)] } ?? []))
    }
}

extension SchemaJSON {
    /// The members of an object.
    var members: [(String, SchemaJSON)] { if case .object(let members) = self { members } else { [] } }
}
