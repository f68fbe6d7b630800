/// The JSON Schema (draft 2020-12) of format files, made from what their sections say of themselves.
struct KeySchema {
    private let root: KeySection

    init(_ root: KeySection) { self.root = root }

    /// The schema's text.
    var text: String {
        let header: [(String, SchemaJSON)] = [
            ("$schema", .string("https://json-schema.org/draft/2020-12/schema")),
            ("title", .string("frametap format file")),
            (
                "description",
                .string("What the frames of a protocol look like. docs/format-files.md explains every key.")
            ),
        ]
        let parts = KeyWalk(root).parts.dropFirst().map { part -> (String, SchemaJSON) in
            switch part {
            case .section(let section):
                (section.name, .object(members(of: section) + [Self.description(section.summary)]))
            case .shared(let value): (value.name, Self.described(schema(value.value()), value.summary))
            }
        }
        let definitions = SchemaJSON.object(Self.simple + parts)
        return SchemaJSON.object(header + members(of: root) + [("$defs", definitions)]).text() + "\n"
    }

    // MARK: Sections

    private func members(of section: KeySection) -> [(String, SchemaJSON)] {
        var members: [(String, SchemaJSON)] = [("type", .string("object"))]
        let required = section.keys.filter(\.isRequired).map(\.name)
        if !required.isEmpty { members.append(("required", .strings(required))) }
        members += section.needs.compactMap { if case .when = $0 { nil } else { self.need($0) } }
        let conditional = section.needs.compactMap { need -> SchemaJSON? in
            if case .when = need { .object([self.need(need)].flatMap(\.1.members)) } else { nil }
        }
        if !conditional.isEmpty { members.append(("allOf", .array(conditional))) }
        members.append(("additionalProperties", .boolean(false)))
        let properties = section.keys.map { key in (key.name, property(key)) }
        members.append(("properties", .object(properties)))
        return members
    }

    private func property(_ key: FormatKey) -> SchemaJSON {
        Self.described(schema(key.value), key.standard.map { "\(key.meaning); \($0) by default" } ?? key.meaning)
    }

    private func need(_ need: KeyNeed) -> (String, SchemaJSON) {
        func required(_ keys: [String]) -> SchemaJSON { .object([("required", .strings(keys))]) }
        switch need {
        case .any(let groups): return ("anyOf", .array(groups.map(required)))
        case .one(let keys): return ("oneOf", .array(keys.map { required([$0]) }))
        case .when(let key, let words, let groups):
            let has = SchemaJSON.object([
                ("properties", .object([(key, .object([("enum", .strings(words))]))])), ("required", .strings([key])),
            ])
            let then = groups.count == 1 ? required(groups[0]) : .object([("anyOf", .array(groups.map(required)))])
            return ("allOf", .object([("if", has), ("then", then)]))
        }
    }

    // MARK: Values

    private func schema(_ value: KeyValue) -> SchemaJSON {
        switch value {
        case .text: .object([("type", .string("string"))])
        case .matching(let pattern, _): .object([("type", .string("string")), ("pattern", .string(pattern))])
        case .scalar: Self.reference("text")
        case .words(let words): Self.words(words)
        case .terms(let terms): Self.words(terms.flatMap(\.words))
        case .integer(let range): Self.choice([Self.integer(range), Self.reference("number")])
        case .number(let least):
            Self.choice([
                .object([("type", .string("number")), ("minimum", .integer(least))]), Self.reference("parameter"),
            ])
        case .boolean: Self.reference("boolean")
        case .byteCount: Self.reference("byteCount")
        case .interval: Self.reference("interval")
        case .bytes: Self.reference("bytes")
        case .condition: Self.reference("condition")
        case .expression: Self.reference("expression")
        case .list(let value, let least, let most):
            .object(
                [("type", .string("array")), ("items", schema(value))]
                    + (least > 0 ? [("minItems", .integer(least))] : [])
                    + (most.map { [("maxItems", .integer($0))] } ?? []))
        case .mapping(let value, let names, let least):
            .object(
                [("type", .string("object"))]
                    + (names.map { [("propertyNames", .object([("pattern", .string($0))]))] } ?? [])
                    + (least > 0 ? [("minProperties", .integer(least))] : [])
                    + [("additionalProperties", schema(value))])
        case .entry(let value, let names):
            .object(
                Self.single
                    + (names.isEmpty
                        ? [] : [("propertyNames", .object([("not", .object([("enum", .strings(names))]))]))])
                    + [("additionalProperties", schema(value))])
        case .any(let values): Self.choice(values.map(schema))
        case .nested(let section): Self.reference(section().name)
        case .shared(let value): Self.reference(value.name)
        case .selected(let key, let options): selected(key, options())
        case .optioned(let options): optioned(options())
        }
    }

    /// The section that a word selects.
    private func selected(_ key: String, _ options: [KeyOption]) -> SchemaJSON {
        let names = SchemaJSON.object([
            ("enum", .strings(options.map(\.name))),
            Self.description(options.map { "\($0.name): \($0.summary)" }.joined(separator: "; ")),
        ])
        let cases = options.map { option in
            SchemaJSON.object([
                (
                    "if",
                    .object([
                        ("properties", .object([(key, .object([("const", .string(option.name))]))])),
                        ("required", .strings([key])),
                    ])
                ),
                ("then", Self.reference(option.section.name)),
            ])
        }
        return .object([
            ("type", .string("object")), ("required", .strings([key])), ("properties", .object([(key, names)])),
            ("allOf", .array(cases)),
        ])
    }

    /// A name, or a name with its section.
    private func optioned(_ options: [KeyOption]) -> SchemaJSON {
        let properties = options.filter { !$0.section.keys.isEmpty }.map { option in
            let section = Self.reference(option.section.name)
            let value = option.short.map { Self.choice([schema($0), section]) } ?? section
            return (option.name, Self.described(value, option.summary))
        }
        return Self.choice([
            .object([("enum", .strings(options.filter { !$0.needsSection }.map(\.name)))]),
            .object(Self.single + [("additionalProperties", .boolean(false)), ("properties", .object(properties))]),
        ])
    }
}
