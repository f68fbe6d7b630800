import YAML

/// The values that keys of structures have, and which section an item is.
extension StructureKeys {
    /// A structure: the header, a body.
    static let items: SharedValue = SharedValue(
        "items", "a list of [fields](#header-and-trailer-the-fields)",
        "constants, fields, and parts without a name, in order",
        .list(.shared(item)))

    static let item: SharedValue = SharedValue(
        "item", "[an item](#structures)",
        "a constant, a field (`- name: type`, or `- name: { … }`), or a part without a name: `literal`, `words`, `oneOf`, `fields`",
        .any([
            .bytes, .section(literal), .section(words), .section(choice), .section(group),
            .entry(.shared(namedItem), except: ["literal", "words", "oneOf", "fields"]),
        ]))

    static let namedItem: SharedValue = SharedValue(
        "namedItem", "[a field](#structures)", "a field of a structure: its type, or a mapping",
        .any([
            .shared(HeaderLoader.type), .section(field), .section(text), .section(bytes), .section(number),
            .section(ended),
            .section(list), .section(use), .section(namedChoice), .section(namedGroup), .section(value),
            .section(lines), .section(body),
        ]))

    static let sequence: SharedValue = SharedValue(
        "fields", "a list of [items](#structures), or a type's name",
        "a list of fields, or the name of one of the file's types",
        .any([.shared(items), .text("a type's name")]))

    /// One of the file's types.
    static let type: SharedValue = SharedValue(
        "types", "a list of [items](#structures), or `{ oneOf }`",
        "a list of fields, or one of several lists; it may contain itself",
        .any([.shared(items), .section(typeChoice)]))

    static let sizeValue: SharedValue = SharedValue(
        "size", "a [size](#sizes)",
        "how many bytes: a type of number that comes before it, an expression, or rest: all that are left around it",
        .any([.words(["rest"]), .expression, .shared(HeaderLoader.value)]))

    static let word: SharedValue = SharedValue(
        "word", "a [word](#words)", "a name, `name: decimal` for a number, or `name: [its values]`",
        .any([.text("a name"), .entry(.oneOrMore(.scalar))]))

    // MARK: Which section an item is

    /// The section of an item without a name; nil if it has one, which may be one of these words.
    ///
    /// - Parameter types: the file's types.
    static func unnamed(_ node: Node, _ types: [String: Node]) -> KeySection? {
        if node.member("literal") != nil { return literal }
        for (key, section) in [("words", words), ("oneOf", choice), ("fields", group)]
        where node.member(key)?.sequence != nil {
            return section
        }
        // `- fields: u16` is a field that is called fields.
        if let name = node.member("fields")?.string, types[name] != nil || node.mapping?.count ?? 0 > 1 { return group }
        return nil
    }

    /// The section of an item with a name: by one of its keys, or else by its type.
    static func named(_ map: YAMLMap) -> KeySection {
        for (key, section) in byKey where map[key] != nil { return section() }
        switch map.text("type") {
        case "string" where map["ends"] != nil, "bytes" where map["ends"] != nil: return ended
        case "string" where !map.hasFixedSize: return text
        case "bytes" where !map.hasFixedSize: return bytes
        case "uint" where !map.hasFixedSize, "int" where !map.hasFixedSize: return number
        default: return field
        }
    }

    private static let byKey: [(String, @Sendable () -> KeySection)] = [
        ("repeat", { list }), ("until", { list }), ("use", { use }), ("oneOf", { namedChoice }),
        ("fields", { namedGroup }), ("value", { value }), ("lines", { lines }), ("body", { body }),
    ]
}
