import Streams

/// Reads which frames of a format are requests and answers.
enum PairingLoader {
    private static let keys = ["request", "from", "answer", "by", "ordered", "within", "optional"]

    static func pairings(_ top: YAMLMap, _ sides: PerDirection<DirectionFormat>?) -> [Pairing] {
        (top.maps("pairs") ?? []).compactMap { map in
            map.allow(keys)
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
