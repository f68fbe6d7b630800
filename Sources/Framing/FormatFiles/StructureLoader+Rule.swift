import Expressions
import Streams
import YAML

extension StructureLoader {
    /// The rule `fields` of a `framing:` section and a `header:` list; nil, with faults reported, if it cannot be built.
    ///
    ///     framing: { rule: fields }                                   no body
    ///     framing: { rule: fields, body: 4 * words, ends: "\r\n" }    a body of that size
    ///     framing: { rule: fields, body: [{ when: code == 204, size: 0 }, { until: "\0" }] }
    func rule(
        _ section: YAMLMap, _ list: Node, trailer: BinaryHead?
    ) -> (rule: Structured, head: StructuredHead)? {
        let framing = section.reading(Structured.keys)
        let building = StructureBuilding(context: context, order: order, outside: outside, isBounded: false)
        building.structure.sequences.append(Structure.Sequence())
        building.read(list, into: 0, path: "header")
        if list.sequence?.isEmpty == true { context.add("the rule fields needs at least one field", at: list) }
        let remembering = remembering(framing, building)
        building.mayAsk = context.side == .fromServer
        let bodies = framing["body"].map { self.bodies($0, framing, building) } ?? []
        let interim = framing["interim"] == nil ? nil : building.expression(framing, "interim")
        building.complete()
        if trailer?.fixedLength ?? 0 > 0, bodies.contains(where: { if case .size = $0.kind { false } else { true } }) {
            framing.fault("a trailer needs a body whose size is known", at: "body")
        }
        let head = StructuredHead(structure: building.structure, bodies: bodies, shown: remembering?.shown)
        let rule = Structured(
            head: head, bodies: bodies, ends: framing["ends"] == nil ? [] : framing.ends("ends").first ?? [],
            trailer: trailer, padding: framing["padding"] == nil ? [] : framing.ends("padding"),
            interim: interim, remembering: remembering, limit: framing.limit,
            headLimit: framing.byteCount("headLimit"))
        return (rule, head)
    }

    /// What frames leave for those after them; nil: nothing.
    private func remembering(_ framing: YAMLMap, _ building: StructureBuilding) -> Remembering? {
        guard framing.has("remembers") else { return nil }
        let maps = framing.maps("remembers", Remembering.keys) ?? []
        building.remembered = Set(maps.compactMap { $0.text("name") })
        building.mayReadBody = true
        defer { building.mayReadBody = false }
        var initial: [String: Int] = [:]
        var shown: Remembering.Shown?
        let entries = maps.compactMap { map -> Remembering.Entry? in
            guard let name = map.requiredText("name"), let value = building.expression(map, "value") else { return nil }
            if building.structure.names.contains(name), map.boolean("shown") == true {
                map.fault("the header has a field \(name), too; expected another name for what frames show", at: "name")
            }
            if let first = map.integer("first") { initial[name] = first }
            if map.boolean("shown") == true {
                if let shown { map.fault("frames show \(shown.name) already; expected one value", at: "shown") }
                shown = Remembering.Shown(name: name, names: building.names(map))
            }
            return Remembering.Entry(
                name: name, value: value, condition: map["when"] == nil ? nil : building.expression(map, "when"),
                key: map["by"] == nil ? nil : building.expression(map, "by"))
        }
        return Remembering(entries, initial: initial, shown: shown)
    }

    /// Where bodies end: one way, or a list of cases.
    private func bodies(_ node: Node, _ framing: YAMLMap, _ building: StructureBuilding) -> [BodyExtent] {
        guard let list = node.sequence else {
            if let map = YAMLMap(mapping: node, path: "\(framing.path).body", context: context) {
                return extent(map.reading(BodyExtent.keys), building).map { [$0] } ?? []
            }
            return word(framing, "body", building).map { [BodyExtent(condition: nil, kind: $0)] } ?? []
        }
        return list.enumerated().compactMap { index, node in
            let map = YAMLMap(node, path: "\(framing.path).body[\(index)]", context: context)
            return map.flatMap { extent($0.reading(BodyExtent.keys), building) }
        }
    }

    private func extent(_ map: YAMLMap, _ building: StructureBuilding) -> BodyExtent? {
        let condition = map["when"] == nil ? nil : building.expression(map, "when")
        if map["until"] != nil {
            for key in ["size", "most"] where map[key] != nil {
                map.fault("\(map.path) has until and \(key); a body ends in one way", at: key)
            }
            let ends = map.ends("until")
            return ends.isEmpty ? nil : BodyExtent(condition: condition, kind: .until(ends))
        }
        guard map["size"] != nil else {
            map.fault("\(map.path) lacks size (how many bytes, chunked, or end) or until (what ends the body)")
            return nil
        }
        let most = map["most"] == nil ? nil : building.expression(map, "most")
        guard let kind = word(map, "size", building) else { return nil }
        if most != nil, case .size = kind {
        } else if most != nil {
            map.fault("\(map.path).most needs a size that is a number of bytes", at: "most")
        }
        return BodyExtent(condition: condition, kind: kind, most: most)
    }

    /// `chunked`, `end`, or an expression.
    private func word(_ map: YAMLMap, _ key: String, _ building: StructureBuilding) -> BodyExtent.Kind? {
        switch map.text(key) {
        case "chunked": .chunked
        case "end": .end
        default: building.expression(map, key).map { .size($0) }
        }
    }
}

extension Structured: LoadableRule {
    static let keys: KeySection = KeySection.rule(
        name, "the header is a [structure](#structures), whose fields say where the frame ends",
        [
            FormatKey(
                "body",
                .any([.shared(BodyExtent.size), .section(BodyExtent.keys), .list(.section(BodyExtent.keys), least: 1)]),
                "where the body ends: its size, `chunked`, `end`, or a list of cases; without it there is no body"),
            FormatKey("ends", .bytes, "bytes after a body whose size is known, such as memcached's `\"\\r\\n\"`"),
            FormatKey("padding", .oneOrMore(.bytes), "bytes that may lie between frames, such as empty lines"),
            FormatKey(
                "interim", .expression,
                """
                in the server's framing: a condition on frames that leave their request without an answer, such as HTTP's \
                `100 Continue`
                """),
            FormatKey(
                "remembers", .list(.section(Remembering.keys), least: 1),
                "[values that frames leave for those after them](#values-that-frames-leave)"),
            .limit, FormatKey("headLimit", .byteCount, "the longest header", default: "16 MiB"),
        ])

    /// Its header must be a structure, so that it is built by `StructureLoader`.
    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built? {
        section.fault("the rule fields needs a header", at: "rule")
        return nil
    }
}

extension BodyExtent {
    static let keys: KeySection = KeySection(
        "framing.fields.body", "one way in which a body ends", needs: [.one(["size", "until"])],
        [
            FormatKey(
                "when", .expression, "a condition on the header's fields, and on `request.NAME` in the server's frames"),
            FormatKey("size", .shared(size), "after this number of bytes, after its last chunk, or with the stream"),
            FormatKey("most", .expression, "at most this number of bytes, although `size` is more"),
            FormatKey("until", .oneOrMore(.bytes), "before these bytes, which belong to the frame"),
        ])

    static let size: SharedValue = SharedValue(
        "framing.fields.size", "an [expression](#expressions-in-structures), `chunked` or `end`",
        "a number of bytes, as an expression; `chunked`, as in HTTP/1.1; or `end`: with the stream",
        .any([.words(["chunked", "end"]), .expression]))
}

extension Remembering {
    static let keys: KeySection = KeySection(
        "framing.fields.remembers", "a value that frames leave for those after them",
        [
            FormatKey("name", .text("a name"), "its name: expressions call it `last.NAME`", required: true),
            FormatKey(
                "value", .expression,
                """
                what it becomes after a frame: an expression of the header's fields, `last.NAME`, `body.length`, and values of \
                the body; a whole number
                """, required: true),
            FormatKey("when", .expression, "after which frames; by default, all that have the value"),
            FormatKey(
                "by", .expression,
                "what tells values of the same name apart, such as a stream's number; frames find a value by its first entry's"
            ),
            FormatKey("first", .integer(.min ... .max), "its value before any frame"),
            FormatKey("shown", .boolean, "whether frames show it as a field, as it is after them", default: "false"),
            HeaderLoader.names,
        ])
}

extension YAMLMap {
    /// Nil, without a fault, if the node is not a mapping.
    fileprivate init?(mapping node: Node, path: String, context: LoadContext) {
        guard node.mapping != nil else { return nil }
        self.init(node, path: path, context: context)
    }
}
