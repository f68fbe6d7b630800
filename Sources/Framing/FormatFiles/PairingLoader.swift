import Streams

/// Reads which frames of a format are requests and answers.
enum PairingLoader {
    static let section = KeySection(
        "pairs", "which frames are requests, and which are their answers",
        [
            FormatKey("request", .condition, "which frames are requests", required: true),
            FormatKey("from", .side, "who sends them", required: true),
            FormatKey("answer", .condition, "which frames of the other side are answers", required: true),
            FormatKey(
                "by",
                .matching(
                    "^(order|type|body|(fields|body)\\..+|\\$.+)$", "`order`, `type`, `body`, `fields.NAME` or `body.…`"
                ),
                """
                which request an answer belongs to: `order`, the oldest without an answer; `type`, the oldest of the same type; \
                `fields.NAME` or a value in the body such as `body.id`, the oldest with the same value there \
                (a frame without it takes no part); `body`, the oldest with the same body
                """, default: "order"),
            FormatKey(
                "ordered", .boolean,
                """
                `false`: answers need not arrive in the order of the requests; this is the default with `fields.NAME`, \
                `body.…` and `body`
                """),
            FormatKey(
                "within", .interval,
                """
                the time after which a request counts as unanswered; by default, when the connection ends. \
                A later answer is still its answer: its time counts
                """),
            FormatKey(
                "optional", .boolean,
                """
                `true`: requests may remain unanswered, and answers may arrive unrequested: there are no findings, \
                only round trips are timed. Requires `within`
                """, default: "false"),
        ])

    static func pairings(_ top: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> [Pairing] {
        (top.maps("pairs", section) ?? []).compactMap { map in
            if map["from"] == nil { map.fault("\(map.path) lacks from") }
            let request = FormatLoader.condition(map, "request")
            let answer = FormatLoader.condition(map, "answer")
            let from = FormatLoader.side(map, "from")
            let rule = rule(map, sides)
            let within = map.interval("within")
            // Answers that name their request may arrive in any order.
            var isOrdered = true
            switch rule {
            case .value, .body: isOrdered = false
            default: break
            }
            isOrdered = map.boolean("ordered") ?? isOrdered
            let isOptional = map.boolean("optional") ?? false
            if isOptional, within == nil {
                map.fault(
                    "\(map.path) is optional and lacks within: for how long an answer is waited for", at: "optional")
            }
            guard let request, let answer, let from, let rule else { return nil }
            return Pairing(
                request: request, from: from, answer: answer, rule: rule, isOrdered: isOrdered, within: within,
                isOptional: isOptional)
        }
    }

    private static func rule(_ map: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> Pairing.Rule? {
        guard let text = map.text("by") else { return .order }
        switch text {
        case "order": return .order
        case "type": return .type
        case "body": return .body
        default:
            return FormatLoader.sharedPlace(text, in: map, "by", sides, others: "order, type, body,").map { .value($0) }
        }
    }
}
