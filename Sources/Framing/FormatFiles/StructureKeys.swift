import YAML

/// The items of structures, and their keys. What an item is follows from the keys that it has.
enum StructureKeys {
    // MARK: Items without a name

    static let literal: KeySection = KeySection(
        "item.literal", "constant bytes",
        [
            FormatKey("literal", .bytes, "the bytes", required: true),
            FormatKey("ignoreCase", .boolean, "`true`: letters may be of either case", default: "false"), when,
        ])

    static let words: KeySection = KeySection(
        "item.words", "a line of words",
        [
            FormatKey("words", .list(.shared(word), least: 1), "the words, in order", required: true),
            FormatKey("ends", .oneOrMore(.bytes), "what ends the line, or several of which one does", required: true),
            FormatKey(
                "ignoreCase", .boolean, "`true`: words whose values are listed may be in either case", default: "false"),
            FormatKey("limit", .byteCount, "the longest line", default: "64 KiB"), when,
        ])

    static let choice: KeySection = KeySection(
        "item.oneOf", "one of several structures, whose fields are shown", [oneOf, when])

    static let group: KeySection = KeySection(
        "item.fields", "fields that have a condition or a size in common", [fields, size, when])

    // MARK: Items with a name

    /// A field whose type determines its size.
    static let field: KeySection = KeySection(
        "item.field", "a field of a structure", needs: HeaderLoader.needs,
        HeaderLoader.keys.map { key in
            guard key.name == "byteOrder" else { return key }
            return FormatKey(key.name, .any([key.value, .section(flag)]), key.meaning)
        } + [when])

    static let text: KeySection = sized(
        "string", ["string"],
        [FormatKey("padding", .integer(0...255), "the byte that fills it up at its end"), HeaderLoader.equals])
    static let bytes: KeySection = sized("bytes", ["bytes"], [])
    static let number: KeySection = sized(
        "int", ["uint", "int"],
        [FormatKey("byteOrder", .words(of: ByteOrder.self), "its byte order, if it differs from the format's")])

    static let ended: KeySection = KeySection(
        "item.ends", "text or bytes up to an end",
        [
            FormatKey("type", .words(["string", "bytes"]), "`string` or `bytes`", required: true),
            FormatKey(
                "ends", .oneOrMore(.bytes),
                "what ends the value, and does not belong to it; of several, the first that occurs",
                required: true),
            FormatKey("limit", .byteCount, "the longest value", default: "64 KiB"),
            FormatKey(
                "quoted", .boolean,
                "`true`: the value may be in double quotes, inside which it does not end, and a backslash escapes",
                default: "false"),
            HeaderLoader.equals, when,
        ])

    static let list: KeySection = KeySection(
        "item.repeat", "a list", needs: [.one(["repeat", "until"])],
        [
            FormatKey(
                "repeat", .any([.words(["rest"]), .expression, .section(again), .shared(HeaderLoader.value)]),
                "how many elements there are: [these values](#lists)"),
            FormatKey("until", .bytes, "the bytes after the last element, which belong to the list"),
            FormatKey("of", .shared(sequence), "an element: a list of items, or a type's name", required: true), size,
            when,
        ])

    static let again: KeySection = KeySection(
        "item.repeat.while", "a list whose elements say whether another one follows",
        [
            FormatKey(
                "while", .expression, "once, and again while the condition holds for the last element", required: true)
        ])

    static let use: KeySection = KeySection(
        "item.use", "one of the file's types",
        [FormatKey("use", .text("a [type](#types)"), "the type's name", required: true), size, when])

    static let namedChoice: KeySection = KeySection(
        "item.name.oneOf", "one of several structures, as an object", [oneOf, size, when])

    static let namedGroup: KeySection = KeySection("item.name.fields", "an object", [fields, size, when])

    static let value: KeySection = KeySection(
        "item.value", "a value without bytes",
        [FormatKey("value", .expression, "the value, which follows from others", required: true), when])

    static let lines: KeySection = KeySection(
        "item.lines", "header lines, up to an empty one",
        [
            FormatKey(
                "lines", .matching("^. ?$", "text, such as `\": \"`"),
                "what separates a name from its value: one character, and perhaps a space after it that does not belong to the value",
                required: true),
            FormatKey("ends", .oneOrMore(.bytes), "what ends a line, or several of which one does", required: true),
            FormatKey("limit", .byteCount, "the most bytes of all lines", default: "64 KiB"), when,
        ])

    static let body: KeySection = KeySection(
        "item.body", "a body inside a field",
        [
            FormatKey("body", .shared(BodyChain.value), "its encodings", required: true),
            FormatKey("size", .shared(sizeValue), "[how many bytes](#sizes) it has", required: true), when,
        ])

    // MARK: Parts of items

    static let flag: KeySection = KeySection(
        "item.byteOrder", "a byte order that depends on other fields",
        [FormatKey("little", .expression, "when the number is little-endian", required: true)])

    static let typeChoice: KeySection = KeySection("types.oneOf", "a type that is one of several structures", [oneOf])

    private static let oneOf: FormatKey = FormatKey(
        "oneOf", .list(.shared(sequence), least: 1),
        "the structures, of which the first whose first item fits is there",
        required: true)
    private static let fields: FormatKey = FormatKey(
        "fields", .shared(sequence), "the fields, or a type's name", required: true)
    private static let size: FormatKey = FormatKey("size", .shared(sizeValue), "[how many bytes](#sizes) all of it has")
    private static let when: FormatKey = FormatKey("when", .expression, "when it is there")

    private static func sized(_ name: String, _ types: [String], _ keys: [FormatKey]) -> KeySection {
        KeySection(
            "item.\(name)",
            "a value of type " + types.map { "`\($0)`" }.joined(separator: " or ") + " whose size other values give",
            [
                FormatKey("type", .words(types), "the type", required: true),
                FormatKey("size", .shared(sizeValue), "[how many bytes](#sizes) it has", required: true),
            ] + keys + [when])
    }
}
