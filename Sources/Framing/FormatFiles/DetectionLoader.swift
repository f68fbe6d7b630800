import Expressions
import YAML

/// Reads a format's `detect` section.
enum DetectionLoader {
    static let section = KeySection(
        "detect", "how the format is recognized by its bytes",
        [
            FormatKey("evidence", .text(), "for people: what was recognized", required: true),
            FormatKey("strength", .integer(1...100), "how strong the evidence is; the strongest wins", default: "50"),
            FormatKey(
                "frames", .integer(1...1_000), "how many frames must follow one another, from the first byte on",
                default: "1"),
            FormatKey("when", .condition, "the condition that each of them must satisfy"),
            FormatKey("from", .side, "the only side that counts as evidence; either by default"),
            FormatKey("both", .boolean, "`true`: both sides must match", default: "false"),
            FormatKey(
                "bodies", .words(["valid"]),
                "`valid`: every frame's body must match `body`: JSON that parses, a Protobuf message"),
            FormatKey(
                "start", .boolean,
                """
                `true`: the evidence concerns the streams' first bytes; if those were not captured, the first captured bytes must \
                match
                """, default: "false"),
            FormatKey(
                "among", .section(amongKeys),
                "frames that satisfy `when` may be among other text, if there are that many of them"),
            FormatKey(
                "alone", .text(),
                """
                for people: what was recognized if the stream consists entirely of fewer whole frames than required, and no other \
                format matches, or with `bodies: valid` only weaker ones
                """),
            FormatKey(
                "openHead", .text(),
                """
                for people: what was recognized if there is only the head of an incomplete frame; `when` may then only refer to \
                `fields`
                """),
            FormatKey(
                "replaces", .words(Signature.all.map(\.name)),
                "a protocol that frametap otherwise recognizes and does not frame, which this format frames"),
            FormatKey(
                "alsoWith", .mapping(.scalar, names: FormatLoader.parameterNames),
                "other values of [parameters](#parameters), with which the format is tried a second time"),
            FormatKey("distinct", .section(distinctKeys), "the most different values of a field"),
            FormatKey(
                "blocksAfter", .integer(0...1_000),
                "the number of frames after which weaker formats wait until this one is ruled out", default: "0"),
        ])

    private static let amongKeys = KeySection(
        "detect.among", "frames among other text",
        [
            FormatKey("frames", .integer(1...1_000), "how many frames there must be", required: true),
            FormatKey("evidence", .text(), "for people: what was recognized then", required: true),
        ])

    private static let distinctKeys = KeySection(
        "detect.distinct", "the most different values of a field",
        [
            FormatKey("field", .text("a field"), "the field", required: true),
            FormatKey("most", .integer(1...1_000), "how many values", required: true),
        ])

    static func detection(_ top: YAMLMap) -> FormatDetection? {
        guard let map = top.map("detect", section) else { return nil }
        guard let evidence = map.requiredText("evidence") else { return nil }
        var detection = FormatDetection(evidence: evidence)
        detection.strength = map.integer("strength") ?? 50
        detection.frames = map.integer("frames") ?? 1
        detection.blocksAfter = map.integer("blocksAfter") ?? 0
        detection.from = FormatLoader.side(map, "from")
        detection.needsBoth = map.boolean("both") ?? false
        if map["when"] != nil { detection.condition = FormatLoader.condition(map, "when") }
        if let bodies = map.text("bodies") {
            if bodies != "valid" { map.fault("detect.bodies is \(bodies); expected valid", at: "bodies") }
            detection.needsValidBodies = true
        }
        detection.isAtStart = map.boolean("start") ?? false
        detection.alone = map.text("alone")
        detection.openHead = map.text("openHead")
        detection.replaces = map.text("replaces")
        if let name = detection.replaces, !Signature.all.contains(where: { $0.name == name }) {
            map.fault(
                "there is no protocol \(name); \(LoadContext.hint(name, Signature.all.map(\.name)))", at: "replaces")
        }
        if detection.openHead != nil, let other = detection.condition?.paths.first(where: { $0.first != "fields" }) {
            map.fault("with openHead the condition may only ask for fields.NAME, found \(other[0])", at: "when")
        }
        detection.alsoWith = alsoWith(map)
        if let among = map.map("among", amongKeys) {
            if let frames = among.requiredInteger("frames"), let text = among.requiredText("evidence") {
                detection.among = (frames, text)
            }
        }
        if let distinct = map.map("distinct", distinctKeys) {
            if let field = distinct.requiredText("field"), let most = distinct.requiredInteger("most") {
                detection.distinct = (field, most)
            }
        }
        return detection
    }

    private static func alsoWith(_ map: YAMLMap) -> [String: String] {
        var values: [String: String] = [:]
        for (key, value) in map.map("alsoWith")?.node.mapping ?? [:] {
            guard let name = key.string, let text = value.string else {
                map.context.add("detect.alsoWith should be name: value, found \(value.kindName)", at: key)
                continue
            }
            let known = map.context.parameters.keys.sorted()
            if !known.contains(name) {
                let hint = known.isEmpty ? "it has none" : LoadContext.hint(name, known)
                map.context.add("the format has no parameter \(name); \(hint)", at: key)
            }
            values[name] = text
        }
        return values
    }
}
