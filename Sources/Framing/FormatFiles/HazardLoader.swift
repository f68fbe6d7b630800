import Expressions
import YAML

/// Reads a format's `hazards`.
enum HazardLoader {
    /// A hazard as a value of a format file.
    static let value: SharedValue = SharedValue(
        "hazard", "a name", "a known failure of published receivers", .words(of: Hazard.self))

    static let section: KeySection = KeySection(
        "hazards", "a known failure that depends on what frames say",
        [
            FormatKey("hazard", .shared(value), "its name", required: true),
            FormatKey(
                "when", .condition,
                """
                with `kept-buffer`, the client's frames that stay in the buffer; with `always-failure`, the answers that report a \
                failure; with `per-read`, the lines that should end the conversation
                """, required: true),
        ])

    /// The hazards whose frames a condition may name.
    private static let conditional: Set<Hazard> = [.keptBuffer, .alwaysFailure, .perRead]

    /// `split-frame`, or `{ hazard: kept-buffer, when: type == "voice" }`, or a list of them.
    static func hazards(_ top: YAMLMap) -> [FormatHazard] {
        guard let node = top["hazards"] else { return [] }
        let items = node.sequence ?? [node]
        return items.enumerated().compactMap { index, item in
            guard item.mapping != nil else {
                guard let text = top.context.text(of: item) else {
                    top.context.add(
                        "hazards should list names or { hazard: …, when: … }, found \(item.kindName)", at: item)
                    return nil
                }
                guard let hazard = hazard(text, at: item, top) else { return nil }
                if hazard == .alwaysFailure {
                    top.context.add(
                        "\(text) needs when, the answers that report a failure: { hazard: \(text), when: … }", at: item)
                    return nil
                }
                return FormatHazard(hazard: hazard)
            }
            guard let map = YAMLMap(item, path: "hazards[\(index)]", context: top.context)?.reading(section),
                let name = map.requiredText("hazard")
            else { return nil }
            let condition = FormatLoader.condition(map, "when")
            guard let hazard = hazard(name, at: map["hazard"] ?? item, top), let condition else { return nil }
            guard conditional.contains(hazard) else {
                let known = conditional.map(\.rawValue).sorted().joined(separator: ", ")
                top.context.add("\(name) does not depend on what frames say; when goes with \(known)", at: item)
                return nil
            }
            return FormatHazard(hazard: hazard, condition: condition)
        }
    }

    private static func hazard(_ text: String, at node: Node, _ top: YAMLMap) -> Hazard? {
        if let hazard = Hazard(rawValue: text) { return hazard }
        let known = Hazard.allCases.map(\.rawValue)
        top.context.add("there is no hazard \(text); \(LoadContext.hint(text, known))", at: node)
        return nil
    }
}
