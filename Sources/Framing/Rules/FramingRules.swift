import YAML

/// A framing rule of the format language: it describes its keys, and is built from them.
protocol LoadableRule: FramingRule {
    /// The keys of a `framing` section with this rule.
    static var keys: KeySection { get }

    /// The rule, and the head that it reads itself, if it does; nil, with faults reported, if it cannot be built.
    ///
    /// - Parameters:
    ///   - section: the `framing` section.
    ///   - head: the header's fields.
    ///   - trailer: the trailer's fields, of a fixed size.
    static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: BinaryHead?) -> FramingRules.Built?
}

/// Every framing rule, by its name in format files. A new rule is one line here.
enum FramingRules {
    /// A rule, and the head it reads itself, if it has one.
    typealias Built = (rule: any FramingRule, head: (any Head)?)

    static let all: [any LoadableRule.Type] = [
        LengthField.self, Delimiter.self, HeadAndBody.self, FixedSize.self, Marker.self, Escaped.self, COBS.self,
        JSONSequence.self, WholeChunk.self, Structured.self,
    ]

    /// A `framing` section.
    static let value: SharedValue = SharedValue(
        "framing", "a [rule](#framing-where-a-frame-ends) and its keys", "how to find the end of a frame",
        .selected(by: "rule") { all.map { KeyOption(name: $0.name, section: $0.keys) } })

    /// The default longest frame, in bytes.
    static let standardLimit = 16 << 20

    /// The rule of a `framing:` section; nil, with faults reported, if it cannot be built.
    static func build(_ section: YAMLMap, head: BinaryHead?, trailer: BinaryHead?) -> Built? {
        guard let name = section.requiredText("rule") else { return nil }
        guard let type = all.first(where: { $0.name == name }) else {
            section.fault(
                "there is no framing rule \(name); \(LoadContext.hint(name, all.map { $0.name }))", at: "rule")
            return nil
        }
        return type.build(section.reading(type.keys), head, trailer)
    }
}

// MARK: Keys that several rules have

extension KeySection {
    /// The keys of a rule, `rule` among them.
    static func rule(_ name: String, _ summary: String, _ keys: [FormatKey]) -> KeySection {
        let rule = FormatKey("rule", .words([name]), "the rule's name", required: true)
        return KeySection("framing.\(name)", summary, [rule] + keys)
    }
}

extension FormatKey {
    /// The longest frame.
    static let limit: FormatKey = FormatKey("limit", .byteCount, "the longest frame", default: "16 MiB")
}

extension KeyValue {
    /// One byte, as a number.
    static let byte = KeyValue.integer(0...255)

    /// Names that are numbers.
    static let numberPattern = "^-?(0x[0-9A-Fa-f]+|[0-9]+)$"
}

extension YAMLMap {
    /// The limit of a frame.
    var limit: Int { byteCount("limit") }

    /// Bytes written as text, or as 0x and hex digits; not empty.
    func bytes(_ key: String) -> [UInt8]? {
        guard let text = requiredText(key) else { return nil }
        if text.isEmpty { fault("\(key) is empty; expected the bytes it stands for", at: key) }
        return text.isEmpty ? nil : [UInt8](written: text)
    }

    /// One byte, as a number.
    func byte(_ key: String) -> UInt8? { integer(key).map(UInt8.init) }

    /// A fault for a rule that has neither header nor trailer, where there is one.
    func refuseHeader(_ head: BinaryHead?, _ trailer: BinaryHead?, _ rule: String) -> Bool {
        guard head != nil || trailer?.fixedLength ?? 0 > 0 else { return false }
        fault("the rule \(rule) has no header or trailer", at: "rule")
        return true
    }
}
