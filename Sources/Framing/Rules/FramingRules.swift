import Streams

/// Every framing rule there is, by the names format files use. A new rule is one line here.
enum FramingRules {
    /// A rule, and the head it reads, if it has one.
    typealias Built = (rule: any FramingRule, head: (any Head)?)

    private static let builders: [(name: String, build: @Sendable (YAMLMap) -> Built?)] = [
        (HeadAndBody.name, { HeadAndBody.build($0) })
    ]

    /// The rule that a `framing:` section asks for; nil, with faults noted, where it cannot be built.
    static func build(_ section: YAMLMap) -> Built? {
        guard let name = section.requiredText("rule") else { return nil }
        guard let builder = builders.first(where: { $0.name == name }) else {
            let known = builders.map(\.name).joined(separator: ", ")
            section.faults.add("unknown framing rule \(name); known are \(known)", at: section["rule"])
            return nil
        }
        return builder.build(section)
    }
}

extension HeadAndBody {
    static func build(_ section: YAMLMap) -> FramingRules.Built? {
        section.allow(["rule", "head", "ends", "size", "limit", "headLimit"])
        if let kind = section.requiredText("head"), kind != "json" {
            section.faults.add("head is \(kind); \(name) knows json", at: section["head"])
        }
        guard let size = section.requiredText("size"), let ends = section.requiredText("ends") else { return nil }
        guard !ends.isEmpty else {
            section.faults.add("ends is empty; expected what ends the head, such as \"\\r\\n\"", at: section["ends"])
            return nil
        }
        let head = JSONHead(sizeField: size)
        let rule = HeadAndBody(
            head: head, delimiter: Array(ends.utf8), sizeField: size,
            limit: section.byteCount("limit", default: 16 << 20),
            headLimit: section.byteCount("headLimit", default: 64 << 10))
        return (rule, head)
    }
}
