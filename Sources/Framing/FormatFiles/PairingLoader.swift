/// Reads which frames of a format are requests and answers.
enum PairingLoader {
    private static let keys = ["request", "from", "answer", "by", "ordered", "within"]

    static func pairings(_ top: YAMLMap) -> [Pairing] {
        (top.maps("pairs") ?? []).compactMap { map in
            map.allow(keys)
            if map["from"] == nil { map.fault("\(map.path) lacks from") }
            let request = FormatLoader.condition(map, "request")
            let answer = FormatLoader.condition(map, "answer")
            let from = FormatLoader.side(map, "from")
            let rule = rule(map)
            let within = map.interval("within")
            // Answers that name their request by a field may come as they like.
            var isOrdered = true
            if case .field? = rule { isOrdered = false }
            isOrdered = map.boolean("ordered") ?? isOrdered
            guard let request, let answer, let from, let rule else { return nil }
            return Pairing(
                request: request, from: from, answer: answer, rule: rule, isOrdered: isOrdered, within: within)
        }
    }

    private static func rule(_ map: YAMLMap) -> Pairing.Rule? {
        guard let text = map.text("by") else { return .order }
        if text == "order" { return .order }
        if text == "type" { return .type }
        if text.hasPrefix("fields."), text.count > 7 { return .field(String(text.dropFirst(7))) }
        map.fault("\(map.path).by is \(text); expected order, type or fields.NAME", at: "by")
        return nil
    }
}
