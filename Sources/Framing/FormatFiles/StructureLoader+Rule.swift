import Expressions
import Streams
import Yams

extension StructureLoader {
    /// The rule `fields` of a `framing:` section and a `header:` list; nil, with faults reported, if it cannot be built.
    ///
    ///     framing: { rule: fields }                                   no body
    ///     framing: { rule: fields, body: 4 * words, ends: "\r\n" }    a body of that size
    ///     framing: { rule: fields, body: [{ when: code == 204, size: 0 }, { until: "\0" }] }
    func rule(
        _ section: YAMLMap, _ list: Node, trailer: Int
    ) -> (rule: Structured, head: StructuredHead)? {
        let framing = section.reading(Structured.keys)
        let building = StructureBuilding(context: context, order: order, outside: outside, isBounded: false)
        building.structure.sequences.append(Structure.Sequence())
        building.read(list, into: 0, path: "header")
        if list.sequence?.isEmpty == true { context.add("the rule fields needs at least one field", at: list) }
        building.mayAsk = context.side == .fromServer
        let bodies = framing["body"].map { self.bodies($0, framing, building) } ?? []
        let interim = framing["interim"] == nil ? nil : building.expression(framing, "interim")
        building.markReferences()
        if trailer > 0, bodies.contains(where: { if case .size = $0.kind { false } else { true } }) {
            framing.fault("a trailer needs a body whose size is known", at: "body")
        }
        let head = StructuredHead(structure: building.structure, bodies: bodies)
        let rule = Structured(
            head: head, bodies: bodies, ends: framing["ends"] == nil ? [] : framing.ends("ends").first ?? [],
            trailer: trailer, padding: framing["padding"] == nil ? [] : framing.ends("padding"),
            interim: interim, limit: framing.limit,
            headLimit: framing.byteCount("headLimit"))
        return (rule, head)
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
            let ends = map.ends("until")
            return ends.isEmpty ? nil : BodyExtent(condition: condition, kind: .until(ends))
        }
        guard map["size"] != nil else {
            map.fault("\(map.path) lacks size (how many bytes, chunked, or end) or until (what ends the body)")
            return nil
        }
        return word(map, "size", building).map { BodyExtent(condition: condition, kind: $0) }
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
            FormatKey("ends", .bytes, "bytes behind a body whose size is known, such as memcached's `\"\\r\\n\"`"),
            FormatKey("padding", .oneOrMore(.bytes), "bytes that may lie between frames, such as empty lines"),
            FormatKey(
                "interim", .expression,
                """
                in the server's framing: a condition on frames that leave their request without an answer, such as HTTP's \
                `100 Continue`
                """),
            .limit, FormatKey("headLimit", .byteCount, "the longest header", default: "16 MiB"),
        ])

    /// Its header must be a structure, so that it is built by `StructureLoader`.
    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.fault("the rule fields needs a header", at: "rule")
        return nil
    }
}

extension BodyExtent {
    static let keys: KeySection = KeySection(
        "framing.fields.body", "one way in which a body ends", needs: [.any([["size"], ["until"]])],
        [
            FormatKey(
                "when", .expression, "a condition on the header's fields, and on `request.NAME` in the server's frames"),
            FormatKey("size", .shared(size), "after this number of bytes, behind its last chunk, or with the stream"),
            FormatKey("until", .oneOrMore(.bytes), "before these bytes, which belong to the frame"),
        ])

    static let size: SharedValue = SharedValue(
        "framing.fields.size", "an [expression](#expressions-in-structures), `chunked` or `end`",
        "a number of bytes, as an expression; `chunked`, as in HTTP/1.1; or `end`: with the stream",
        .any([.words(["chunked", "end"]), .expression]))
}

extension YAMLMap {
    /// Nil, without a fault, if the node is not a mapping.
    fileprivate init?(mapping node: Node, path: String, context: LoadContext) {
        guard node.mapping != nil else { return nil }
        self.init(node, path: path, context: context)
    }
}
