import Expressions
import Streams
import YAML

/// Reads a format's `secret` section.
enum SecretLoader {
    /// A secret as a value of a format file.
    static let value: SharedValue = SharedValue(
        "secret.value", "`fields.NAME` or `body.…`",
        "a field, a path in a field such as `fields.args[1]`, `body`, or a value in the body such as `body.password`",
        .matching("^(fields\\..+|body(\\..+)?|\\$.+)$", "`fields.NAME` or `body.…`"))

    static let section: KeySection = KeySection(
        "secret", "a value that must not be shown", needs: [.any([["when"], ["after"]])],
        [
            FormatKey("value", .shared(value), "where the value is; `body` alone is the whole body", required: true),
            FormatKey("when", .condition, "the frames that have it"),
            FormatKey(
                "after", .condition, "the frame after which it comes, from the same side; `value` is `body` then"),
            FormatKey("until", .condition, "the frame that ends that; without this key, only the next frame has it"),
        ])

    /// `body.password`, or `{ value: body.2, when: type == "login" }`, or a list of them.
    ///
    /// - Parameter sides: the frames of both sides; nil if they have faults of their own.
    static func secrets(_ top: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> [Secret] {
        guard let node = top["secret"] else { return [] }
        let items = node.sequence ?? [node]
        return items.enumerated().compactMap { index, item in
            var text = top.context.text(of: item)
            var place = item
            var when: Expression?
            if item.mapping != nil {
                guard let map = YAMLMap(item, path: "secret[\(index)]", context: top.context)?.reading(section) else {
                    return nil
                }
                text = map.requiredText("value")
                place = map["value"] ?? item
                if map["when"] != nil || map["after"] == nil { when = FormatLoader.condition(map, "when") }
                if text == nil || when == nil && map["after"] == nil { return nil }
                if map["after"] != nil {
                    guard text == "body" else {
                        top.context.add("with after, a secret's value can only be body", at: place)
                        return nil
                    }
                    var secret = Secret(path: ["body"], condition: when)
                    secret.after = FormatLoader.condition(map, "after")
                    if map["until"] != nil { secret.until = FormatLoader.condition(map, "until") }
                    return secret.after == nil ? nil : secret
                }
            }
            guard let text else {
                top.context.add("secret should list text or { value: …, when: … }, found \(item.kindName)", at: item)
                return nil
            }
            // args[1] is two components. Of a list, a name is looked up in all elements: users[*].password is users.password.
            let path = (ValuePlace.path(text[...]) ?? [text]).filter { $0 != "*" }
            if let complaint = Secret.complaint(about: path) ?? sides.flatMap({ Self.complaint(path, $0, top.context) })
            {
                top.context.add("secret: \(text) \(complaint)", at: place)
                return nil
            }
            if path.first == "body", let misspelling = BodyFormat.misspelling(in: Array(path.dropFirst())) {
                top.context.add("secret: \(text): \(misspelling)", at: place)
                return nil
            }
            return Secret(path: path, condition: when)
        }
    }

    /// The error in a path at which nothing can be hidden; nil if there is none.
    private static func complaint(
        _ path: [String], _ sides: PerDirection<DirectionFormat>, _ context: LoadContext
    ) -> String? {
        if path[0] == "fields", let complaint = complaint(inFields: path, sides, context) { return complaint }
        if path[0] == "body", path.count > 1 {
            // It need not be in the bodies of all frames.
            let bodies = Direction.allCases.flatMap { sides[$0].bodies }
            if let complaint = BodyFormat.complaint(about: Array(path.dropFirst()), in: bodies, mayBeAll: true) {
                return "hides nothing: \(complaint)"
            }
        }
        for side in Direction.allCases {
            let shown: [(what: String, places: [ValuePlace])] = [
                ("type", sides[side].typePlaces), ("sender", [sides[side].fromPlace].compactMap { $0 }),
                ("receiver", [sides[side].toPlace].compactMap { $0 }),
            ]
            if let named = shown.first(where: { $0.places.contains { $0.isSame(as: path) } }) {
                return "names the frames' \(named.what), which is always shown"
            }
        }
        return nil
    }

    private static func complaint(
        inFields path: [String], _ sides: PerDirection<DirectionFormat>, _ context: LoadContext
    ) -> String? {
        if let complaint = FrameValues.complaint(about: path, fields: context.fields, bodies: nil) {
            return "hides nothing: \(complaint)"
        }
        guard path.count > 2 else { return nil }
        let complaints = Direction.allCases.flatMap { side in
            sides[side].layouts.flatMap { $0.complaints(inField: path[1], Array(path.dropFirst(2))) }
        }
        guard !complaints.contains(nil), let complaint = complaints.first ?? nil else { return nil }
        return "hides nothing: \(complaint)"
    }
}

extension FrameLayout {
    /// The errors in a path in a field: one for each field of that name, or nil if it may lead to a value; none if there is no such
    /// field.
    fileprivate func complaints(inField name: String, _ path: [String]) -> [String?] {
        let plain = (((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? [])).filter {
            $0.name == name || $0.bits.contains { $0.name == name }
        }
        let single = plain.map { _ -> String? in "the field \(name) is one value, with nothing inside" }
        guard let head, !(head is BinaryHead) else { return single }
        guard let structure = (head as? StructuredHead)?.structure else { return [nil] }
        guard structure.names.contains(name) else { return single }
        return single + [StructureNames(structure, in: name, ignoringCase: true).complaint(about: path)]
    }
}

extension DirectionFormat {
    /// The values that name a frame's type.
    fileprivate var typePlaces: [ValuePlace] {
        switch typeName {
        case .none, .layout: []
        case .field(let name): [.field(name)]
        case .value(let place): [place]
        case .cases(let cases): cases.compactMap { if case .place(let place) = $0.name { place } else { nil } }
        }
    }
}

extension ValuePlace {
    /// Whether a secret's path leads there.
    fileprivate func isSame(as path: [String]) -> Bool {
        func short(_ path: [String]) -> [String] {
            path.count > 1 && BodyFormat.isForm(path[0]) ? Array(path.dropFirst()) : path
        }
        return switch self {
        case .field(let name): path == ["fields", name]
        case .inField(let own): path == ["fields"] + own
        case .body(let own): path[0] == "body" && short(Array(path.dropFirst())) == short(own)
        }
    }
}
