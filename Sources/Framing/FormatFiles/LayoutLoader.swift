import Streams
import YAML

/// Reads the layout of one direction's frames: rules, headers, and the choices between them.
///
///     header, trailer, framing      one kind of frame
///     oneOf: [ … ]                  several kinds; each frame is of the first whose header fits
///     alternatives: [ … ]           several readings; one is decided on for the whole stream
///     first: { … }                  the first frame is unlike the rest
struct LayoutLoader {
    let context: LoadContext

    /// A rule and the layouts of its frames.
    struct Built {
        var rule: any FramingRule
        var layouts: [FrameLayout]
    }

    /// Builds the layout of a side in each state: the state's section of that side, the state's own, then the side's and the file's.
    func states(_ map: YAMLMap, side: String, _ sections: [YAMLMap]) -> Built? {
        if map.node.mapping?.isEmpty == true { map.fault("states has none; expected a state and its frames") }
        var names: [String] = []
        let built = (map.node.mapping ?? [:]).map { key, value -> Built? in
            let name = key.string ?? "?"
            names.append(name)
            guard let state = YAMLMap(value, path: "states.\(name)", context: context)?.reading(Self.stateKeys) else {
                return nil
            }
            let own = state.map(side, Self.stateSideKeys)
            return build([own, state].compactMap { $0 } + sections)
        }
        guard !built.isEmpty, !built.contains(where: { $0 == nil }) else { return nil }
        var opaque: [Built] = []
        if map["opaque"] == nil {
            let layout = FrameLayout(name: "opaque", rule: WholeChunk(repeats: nil), head: nil, trailer: nil)
            opaque = [Built(rule: layout.rule, layouts: [layout])]
        }
        let (parts, layouts) = number(built.compactMap { $0 } + opaque)
        return Built(rule: StateRule(parts: parts, names: names + ["opaque"]), layouts: layouts)
    }

    /// Builds a section; what it omits is inherited from the enclosing sections, innermost first.
    func build(_ sections: [YAMLMap]) -> Built? {
        guard let section = sections.first else { return nil }
        let rest: Built?
        if let kinds = nearest("oneOf", sections) {
            let maps = kinds.map.maps("oneOf", Self.kindKeys)
            if maps?.isEmpty == true { kinds.map.fault("oneOf has no kinds of frames", at: "oneOf") }
            rest = maps.flatMap { $0.isEmpty ? nil : oneOf($0, kinds.around) }
        } else {
            let readings = self.readings(sections)
            rest = readings.flatMap { $0.count == 1 ? $0[0] : alternatives($0, at: section) }
        }
        guard let first = nearest("first", sections)?.map.map("first", Self.firstKeys) else { return rest }
        return rest.flatMap { opening(first, sections, rest: $0) }
    }

    /// The innermost section that has a key, unless one further in has its own framing.
    private func nearest(_ key: String, _ sections: [YAMLMap]) -> (map: YAMLMap, around: [YAMLMap])? {
        for (index, section) in sections.enumerated() {
            if section[key] != nil { return (section, Array(sections[index...])) }
            if section["framing"] != nil || section["header"] != nil { return nil }
        }
        return nil
    }

    /// The readings that a section allows: its alternatives, and both byte orders if constants must decide.
    private func readings(_ sections: [YAMLMap]) -> [Built]? {
        if let choice = nearest("alternatives", sections) {
            guard let maps = choice.map.maps("alternatives", Self.kindKeys) else { return nil }
            if maps.isEmpty {
                choice.map.fault("alternatives has none", at: "alternatives")
                return nil
            }
            let built = maps.map { map -> [Built]? in
                readings([map] + choice.around.map(Self.withoutChoices))
            }
            return built.contains { $0 == nil } ? nil : built.flatMap { $0 ?? [] }
        }
        let text = sections.lazy.compactMap { $0.text("byteOrder") }.first ?? "big"
        if text == "auto" {
            let both = ByteOrder.allCases.compactMap { leaf(sections, order: $0) }
            return both.isEmpty ? nil : both
        }
        guard let order = ByteOrder(rawValue: text) else {
            let map = sections.first { $0["byteOrder"] != nil }
            map?.fault("byteOrder is \(text); expected big, little or auto", at: "byteOrder")
            return nil
        }
        return leaf(sections, order: order).map { [$0] }
    }

    /// One kind of frame.
    private func leaf(_ sections: [YAMLMap], order: ByteOrder) -> Built? {
        let loader = HeaderLoader(context: context, order: order)
        func list(_ key: String) -> BinaryHead? {
            sections.first { $0[key] != nil }.flatMap { loader.head($0, key) }
        }
        guard let framing = sections.first(where: { $0["framing"] != nil })?.map("framing") else {
            if !sections.contains(where: { $0["framing"] != nil }), let section = sections.first {
                section.fault("\(section.path) lacks framing")
            }
            return nil
        }
        let around = context.checksumEnds
        context.checksumEnds = []
        defer { context.checksumEnds = around }
        let trailer = list("trailer")
        if trailer != nil, trailer?.fixedLength == nil {
            framing.fault("a trailer's fields must have a fixed size, since it is found from the frame's end")
            return nil
        }
        if framing["rule"]?.string == Structured.name {
            return structured(framing, sections, order, trailer).map { rule, head in
                var layout = FrameLayout(name: name(sections), rule: rule, head: head, trailer: trailer)
                checkChecksums(layout)
                layout.body = body(sections, layout, order)
                return Built(rule: rule, layouts: [layout])
            }
        }
        let head = list("header")
        guard let built = FramingRules.build(framing, head: head, trailer: trailer) else {
            return nil
        }
        var layout = FrameLayout(
            name: name(sections), rule: built.rule, head: built.head ?? head, trailer: trailer)
        checkChecksums(layout)
        layout.body = body(sections, layout, order)
        return Built(rule: built.rule, layouts: [layout])
    }

    /// Reports what checksums cover from or to a field that the frame does not have.
    private func checkChecksums(_ layout: FrameLayout) {
        let known = layout.placedNames
        for (name, node) in context.checksumEnds where !known.contains(name) {
            context.add(
                "over: there is no field \(name); expected start, body, end, field, or a field's name; "
                    + LoadContext.hint(name, known), at: node)
        }
    }

    /// The name of the innermost section, if such a section has one.
    private func name(_ sections: [YAMLMap]) -> String? {
        sections.first.flatMap { $0.has("name") ? $0.text("name") : nil }
    }

    /// The body of a kind or a state that says itself how it is decoded, or of a byte order if constants decide it: nil if only the side
    /// or the file says that.
    private func body(_ sections: [YAMLMap], _ layout: FrameLayout, _ decided: ByteOrder) -> BodyFormat? {
        let order = sections.lazy.compactMap { $0.text("byteOrder") }.first
        let isOpen = order == "auto"
        guard let own = sections.first(where: { $0["body"] != nil }), own.isKind || isOpen else { return nil }
        let around = (context.headNames, context.bodyOrder)
        defer { (context.headNames, context.bodyOrder) = around }
        context.headNames = FrameValues.fields(of: [layout], layout.rule)
        context.bodyOrder = isOpen ? decided : order.flatMap { ByteOrder(rawValue: $0) } ?? .big
        let body = BodyFormat(own)
        return own.isKind || body?.chains.contains(where: \.hasNumbers) == true ? body : nil
    }

    /// The rule `fields`, whose header is a structure.
    private func structured(
        _ framing: YAMLMap, _ sections: [YAMLMap], _ order: ByteOrder, _ trailer: BinaryHead?
    ) -> (rule: Structured, head: StructuredHead)? {
        guard let map = sections.first(where: { $0["header"] != nil }), let list = map["header"] else {
            framing.fault("the rule fields needs a header", at: "rule")
            return nil
        }
        let loader = StructureLoader(context: context, order: order, outside: [])
        return loader.rule(framing, list, trailer: trailer)
    }

    // MARK: Choices

    private func oneOf(_ maps: [YAMLMap], _ around: [YAMLMap]) -> Built? {
        let built = maps.map { map -> Built? in
            warnOfInheritedHeader(map, around)
            return build([map] + around.map(Self.withoutChoices))
        }
        guard !built.contains(where: { $0 == nil }) else { return nil }
        let (parts, layouts) = number(built.compactMap { $0 })
        return Built(rule: OneOf(parts: parts, names: maps.map { $0.text("name") }), layouts: layouts)
    }

    /// A kind that specifies its framing but no header is mostly intended to have none.
    private func warnOfInheritedHeader(_ kind: YAMLMap, _ around: [YAMLMap]) {
        guard kind["framing"] != nil, kind["header"] == nil, kind["oneOf"] == nil, kind["alternatives"] == nil,
            let outer = around.first(where: { $0["header"] != nil })?["header"]
        else { return }
        let names = (outer.sequence ?? []).compactMap { $0.mapping?.first?.key.string }
        context.warn(
            "\(kind.path) has a framing and no header of its own: it takes the one around it"
                + " (\(names.joined(separator: ", "))); write header: [] if it has none", at: kind.node)
    }

    /// A section as inherited by the kinds in its own list.
    private static func withoutChoices(_ map: YAMLMap) -> YAMLMap {
        guard var mapping = map.node.mapping else { return map }
        for key in ["oneOf", "alternatives", "first"] { mapping.remove(key) }
        return map.with(mapping)
    }

    private func alternatives(_ readings: [Built], at section: YAMLMap) -> Built? {
        guard context.choices < Alternatives.mostSlots, readings.count <= Alternatives.mostParts else {
            section.fault(
                "at most \(Alternatives.mostSlots) choices between at most \(Alternatives.mostParts) readings are possible"
            )
            return nil
        }
        let slot = context.choices
        context.choices += 1
        let (parts, layouts) = number(readings)
        return Built(rule: Alternatives(parts: parts, slot: slot), layouts: layouts)
    }

    private func opening(_ first: YAMLMap, _ sections: [YAMLMap], rest: Built) -> Built? {
        warnOfInheritedHeader(first, sections)
        guard let built = build([first] + sections.map(Self.withoutChoices)) else { return nil }
        let (parts, layouts) = number([built, rest])
        var again: (heads: [BinaryHead?], field: String, values: [FieldValue])?
        if let map = first.map("again", Self.againKeys) {
            again = self.again(map, built.layouts.map { $0.head as? BinaryHead })
            if again == nil { return nil }
        }
        return Built(rule: OpeningFrames(opening: parts[0], rest: parts[1], again: again), layouts: layouts)
    }

    /// After which first frames another such frame follows.
    private func again(
        _ map: YAMLMap, _ heads: [BinaryHead?]
    ) -> (heads: [BinaryHead?], field: String, values: [FieldValue])? {
        guard let name = map.requiredText("field") else { return nil }
        let fields = heads.compactMap { $0?.fields.first { $0.name == name } }
        guard let field = fields.first else {
            let known = heads.flatMap { $0?.fields.map(\.name) ?? [] }
            let hint = known.isEmpty ? "it has none" : LoadContext.hint(name, known)
            map.fault("there is no field \(name) in the first frame's header; \(hint)", at: "field")
            return nil
        }
        if map["in"] == nil { map.fault("\(map.path) lacks in: the values after which another first frame comes") }
        let values = map.texts("in").compactMap { text, node -> FieldValue? in
            let value = FieldValue.text(text).unnamed(field.names)
            if field.isText || value != .text(text) { return value }
            if let number = Int(number: text) { return .integer(Int64(number)) }
            context.add("\(text) is no number", at: node)
            return nil
        }
        return (heads, name, values)
    }

    private func number(_ built: [Built]) -> ([RulePart], [FrameLayout]) {
        var parts: [RulePart] = []
        var layouts: [FrameLayout] = []
        for part in built {
            parts.append(RulePart(rule: part.rule, first: layouts.count, layouts: part.layouts.count))
            layouts += part.layouts
        }
        return (parts, layouts)
    }
}

extension FrameLayout {
    /// The names of the fields that have bytes of their own.
    fileprivate var placedNames: [String] {
        let own = (head as? BinaryHead)?.fields.map(\.name) ?? []
        let items = (head as? StructuredHead)?.structure.items(of: 0) ?? []
        let structured = items.flatMap { item -> [String] in
            switch item.content {
            case .field(let field): [field.name]
            case .computed, .literal: []
            default: item.names
            }
        }
        return own + structured + (trailer?.fields.map(\.name) ?? [])
    }
}

extension YAMLMap {
    /// Whether it describes a kind or a state rather than a side or the file.
    fileprivate var isKind: Bool { path.contains("[") || path.contains(".") || path == "first" }
}
