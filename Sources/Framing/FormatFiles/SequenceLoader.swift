import Streams

/// Reads a format's `sequence` section.
///
///     sequence: { value: fields.number }
///     sequence: { value: fields.number, from: client, step: 2, modulus: 256 }
enum SequenceLoader {
    static let section = KeySection(
        "sequence", "the number in a side's frames that goes on",
        [
            FormatKey(
                "value", .text("`fields.NAME` or `body.…`"),
                "where the number is: a field, or a value in the body such as `body.id`; frames without it do not count",
                required: true),
            FormatKey("from", .side, "whose frames count; by default, each side's for themselves"),
            FormatKey("step", .integer(-1_000_000...1_000_000), "by how much the number grows", default: "1"),
            FormatKey(
                "modulus", .integer(2...Int.max),
                "the number of values after which it begins again from 0; by default, as many as an unsigned field has"),
        ])

    /// The rule of a `sequence` section; nil, with faults, if it cannot be read.
    static func rule(_ map: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> SequenceRule? {
        guard let text = map.requiredText("value") else { return nil }
        let from = FormatLoader.side(map, "from")
        let name = text.hasPrefix("fields.") ? String(text.dropFirst(7)) : text
        let place = text.hasPrefix("body.") ? ValuePlace(body: text) : ValuePlace(field: name)
        guard let place else {
            map.fault(
                "\(map.path).value is \(text); expected fields.NAME or a value of the body such as body.id", at: "value"
            )
            return nil
        }
        let measured = from.map { [$0] } ?? Direction.allCases
        if let sides, case .body = place,
            FormatLoader.bodyPlace(text, in: map, "value", measured.flatMap { sides[$0].bodies }) == nil
        {
            return nil
        }
        var modulus = map.integer("modulus").map(Int64.init)
        if case .field(let field) = place, let sides {
            let layouts = measured.flatMap { sides[$0].layouts }
            if let hint = FormatLoader.unknownField(field, layouts) {
                map.fault("there is no field \(field) in the header; \(hint)", at: "value")
            }
            if layouts.contains(where: { $0.hasBytes(field) }) {
                map.context.warn(
                    "\(field) has the type bytes: it counts only where its hex digits are a decimal number (BCD);"
                        + " a number has a type such as u16, or uint with a size", at: map["value"])
            }
            // A number of some bytes begins again when they are used up.
            modulus =
                modulus
                ?? layouts.lazy.compactMap { $0.width(ofNumber: field) }.first.flatMap { width in
                    width < 8 ? Int64(1) << Int64(8 * width) : nil
                }
        }
        let step = map.integer("step") ?? 1
        return SequenceRule(place: place, from: from, step: Int64(step), modulus: modulus)
    }
}

extension FrameLayout {
    /// Whether it has a field of this name whose values are bytes.
    fileprivate func hasBytes(_ name: String) -> Bool {
        let fields = ((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? [])
        let items = (head as? StructuredHead)?.structure.items(of: 0) ?? []
        return fields.contains { $0.name == name && $0.kind.isBytes }
            || items.contains { item in
                guard item.name == name else { return false }
                return switch item.content {
                case .field(let field): field.kind.isBytes
                case .sized(.bytes): true
                case .ended(let end): !end.isText
                default: false
                }
            }
    }

    /// How many bytes an unsigned field has; nil if there is none of that name.
    fileprivate func width(ofNumber name: String) -> Int? {
        let fields = ((head as? BinaryHead)?.fields ?? []) + (trailer?.fields ?? [])
        guard case .unsigned(let width)? = fields.first(where: { $0.name == name })?.kind else { return nil }
        return width
    }
}

extension HeaderField.Kind {
    /// Whether it is `bytes`.
    fileprivate var isBytes: Bool { if case .bytes = self { true } else { false } }
}
