import YAML

/// The types of fields, and their keys.
extension HeaderLoader {
    static let types = [
        KeyTerm(
            "u8", "u16", "u24", "u32", "u40", "u48", "u56", "u64", meaning: "an unsigned number of 1 to 8 bytes"),
        KeyTerm(
            "i8", "i16", "i24", "i32", "i40", "i48", "i56", "i64",
            meaning: "a signed number of 1 to 8 bytes (two's complement)"),
        KeyTerm("uint", "int", meaning: "the same, with the number of bytes given as `size`"),
        KeyTerm("f32", "f64", meaning: "a floating-point number (IEEE 754)"),
        KeyTerm(
            "varint",
            meaning: """
                seven bits a byte, the lowest first, the high bit set on all but the last (Protobuf, MQTT); at most `max` bytes
                """),
        KeyTerm(
            "vlq",
            meaning: """
                seven bits a byte, the highest first, the high bit set on all but the last (MIDI, BER tags); at most `max` bytes
                """),
        KeyTerm(
            "ber",
            meaning: """
                a length in BER (X.690 section 8.1.3): up to 127 in one byte, otherwise the number of bytes, and those; not the \
                indefinite form
                """),
        KeyTerm(
            "lenenc",
            meaning: """
                MySQL's length-encoded integer: up to 250 in one byte, otherwise `fc`, `fd` or `fe` and 2, 3 or 8 bytes; `fb` (NULL) \
                is -1
                """),
        KeyTerm(
            "decimal",
            meaning: """
                decimal digits, optionally with a sign, up to `ends`; at most `digits` of them, 20 by default. Without `ends`, exactly \
                `digits` digits (at most 18), with leading zeros
                """),
        KeyTerm(
            "hex",
            meaning: """
                hexadecimal digits up to `ends`, at most `digits` of them, 16 by default; or without `ends` exactly `digits`
                """),
        KeyTerm("char", meaning: "one byte of text"),
        KeyTerm("string", meaning: "text of `size` bytes, padded at its end with `padding`"),
        KeyTerm("bytes", meaning: "`size` bytes, shown in hex"),
    ]

    /// A type as a value of a format file.
    static let type: SharedValue = SharedValue(
        "type", "a [type](#header-and-trailer-the-fields)", "how the value is written", .terms(types))

    /// A field as a value of a format file.
    static let value: SharedValue = SharedValue(
        "anyField", "a [field](#header-and-trailer-the-fields)",
        "a field: its type, or a mapping with its type and more",
        .any([.shared(type), .section(section)]))

    /// A list of fields that do not depend on each other.
    static let list: SharedValue = SharedValue(
        "fieldList", "a list of [fields](#header-and-trailer-the-fields)",
        "a list of fields: `- name: type`, or `- name: { type: …, … }`", .list(.entry(.shared(value)), least: 1))

    static let section: KeySection = KeySection("field", "a field of a header or trailer", needs: needs, keys)

    /// What types need beside their name.
    static let needs: [KeyNeed] = [
        .when("type", ["uint", "int", "string", "bytes"], any: [["size"]]),
        .when("type", ["decimal", "hex"], any: [["ends"], ["digits"]]),
    ]

    /// The keys of all fields whose type determines their size.
    static let keys: [FormatKey] = [
        FormatKey("type", .shared(type), "how the value is written", required: true),
        FormatKey("size", .integer(0...65_536), "the bytes of a field of type `uint`, `int`, `string` or `bytes`"),
        FormatKey("padding", .integer(0...255), "of a `string`: the byte that fills it up at its end", default: "0"),
        FormatKey("ends", .bytes, "of `decimal` and `hex`: what ends the digits"),
        FormatKey("digits", .integer(1...20), "of `decimal` and `hex`: the number of digits; with `ends` the most"),
        FormatKey("max", .integer(1...10), "of `varint` and `vlq`: the most bytes", default: "5"),
        equals,
        names,
        FormatKey(
            "bits", .mapping(.any([.text("a name"), .section(bitsKeys)]), names: "^[0-9]+(-[0-9]+)?$"),
            "names for the field's bits, `bit: name` or `from-to: name`, for unsigned numbers; bit 0 is the least significant"
        ),
        FormatKey(
            "byteOrder", .words(of: ByteOrder.self), "the field's byte order, if it differs from the format's"),
        FormatKey(
            "checksum", .text("a checksum"),
            """
            the field is a checksum: `sum8` `sum16` `sum32` `xor8`, `internet` (RFC 1071), `fletcher-16`, `adler-32` (RFC 1950), \
            `sha-256d` (the first four bytes of SHA-256 applied twice, as a big-endian number), a CRC of 8, 16 or 32 bits by its \
            name in [the catalogue](https://reveng.sourceforge.io/crc-catalogue/); or, in a field of type `bytes` or, as hex \
            digits, `string`: the hashes `md5` `sha-1` `sha-256` `sha-512`, and with a key `hmac-md5` `hmac-sha-1` \
            `hmac-sha-256` `hmac-sha-512` (RFC 2104), or as many of their first bytes as the field has
            """),
        FormatKey(
            "over",
            .list(.any([.words(["start", "body", "end", "field"]), .text("a field's name")]), least: 2, most: 2),
            """
            the range that the checksum covers, from and to, of `start` (the header's first byte), `body`, `end` (of the body), \
            `field` (itself) and the name of another field (its first byte)
            """, default: "[start, field]"),
        FormatKey(
            "keyName", .text("a name"),
            "the key of an HMAC: `--key NAME=…`; by default it has the format's name. Without the key, nothing is checked"
        ),
    ]

    /// The values that a field may have.
    static let names: FormatKey = FormatKey(
        "names", .any([.mapping(.scalar, least: 1), .text("a list's name")]),
        """
        names for the field's values: numbers, or strings if the field is text; or the name of one of the file's lists of \
        `names`
        """)

    static let equals: FormatKey = FormatKey(
        "equals", .oneOrMore(.scalar),
        """
        the only value that the field may have, or several: a list, in which `1..5` is a range. Constants distinguish kinds of \
        frames, determine the byte order, and help to resynchronize after bad bytes
        """)

    static let bitsKeys: KeySection = KeySection(
        "field.bits", "some of a field's bits, which are a field, too",
        [
            FormatKey("name", .text("a name"), "what they are called", required: true),
            FormatKey(
                "names", .any([.mapping(.scalar, least: 1), .text("a list's name")]),
                "names for their values, as for fields"),
            FormatKey("equals", .integer(0...Int.max), "the only value that they may have"),
        ])
}
