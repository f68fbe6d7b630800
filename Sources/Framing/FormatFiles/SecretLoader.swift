import Expressions
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
    static func secrets(_ top: YAMLMap) -> [Secret] {
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
            // args[1] is two components.
            let path = ValuePlace.path(text[...]) ?? [text]
            if let complaint = Secret.complaint(about: path) {
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
}
