/// What the value of a key may be.
package indirect enum KeyValue: Sendable {
    /// Text; what it is, if more can be said.
    case text(String? = nil)
    /// Text that matches a regular expression, and what that means.
    case matching(String, String)
    /// Text, or a number or a boolean that is taken as it is written.
    case scalar
    /// One of these words.
    case words([String])
    /// One of these words, with their meanings.
    case terms([KeyTerm])
    case integer(ClosedRange<Int>)
    /// A number that need not be whole.
    case number(least: Int)
    case boolean
    case byteCount
    case interval
    /// Bytes as text, or as `0x` and hex digits.
    case bytes
    /// A condition on a frame.
    case condition
    /// An expression over the fields that come before.
    case expression
    case list(KeyValue, least: Int = 0, most: Int? = nil)
    /// Any names with a value each; a regular expression for the names.
    case mapping(KeyValue, names: String? = nil, least: Int = 0)
    /// One name with its value; not one of these names.
    case entry(KeyValue, except: [String] = [])
    case any([KeyValue])
    /// Another section, found when it is needed: sections may contain each other.
    case nested(@Sendable () -> KeySection)
    /// A value that several keys have.
    case shared(SharedValue)
    /// A section that the word at one of its keys selects.
    case selected(by: String, @Sendable () -> [KeyOption])
    /// One of these names, or one name with its section.
    case optioned(@Sendable () -> [KeyOption])

    static func section(_ section: @autoclosure @escaping @Sendable () -> KeySection) -> KeyValue { .nested(section) }

    /// One of the values that a type has.
    static func words<Choice: CaseIterable & RawRepresentable<String>>(of _: Choice.Type) -> KeyValue {
        .words(Choice.allCases.map(\.rawValue))
    }

    /// The value, or a list of such values.
    static func oneOrMore(_ value: KeyValue) -> KeyValue { .any([value, .list(value, least: 1)]) }

    /// Whether it is bytes, or a list of them.
    var isBytes: Bool {
        switch self {
        case .bytes: true
        case .list(let value, _, _): value.isBytes
        case .any(let values): values.allSatisfy(\.isBytes)
        default: false
        }
    }

    /// One of the two sides of a connection.
    static let side = KeyValue.words(["client", "server"])
}

/// A value that several keys have: described once, and referred to.
package struct SharedValue: Sendable {
    /// Its name in the schema.
    let name: String
    /// How the reference calls such a value, in Markdown.
    let phrase: String
    /// A sentence without its capital letter and full stop, in Markdown.
    let summary: String
    /// Found when it is needed: values may contain themselves.
    let value: @Sendable () -> KeyValue

    init(_ name: String, _ phrase: String, _ summary: String, _ value: @autoclosure @escaping @Sendable () -> KeyValue)
    {
        self.name = name
        self.phrase = phrase
        self.summary = summary
        self.value = value
    }
}

/// Words that a key may have, and their meaning in Markdown.
package struct KeyTerm: Sendable {
    let words: [String]
    let meaning: String

    init(_ words: String..., meaning: String) { (self.words, self.meaning) = (words, meaning) }
}

/// One of several sections, by its name: a framing rule, a body encoding.
package struct KeyOption: Sendable {
    let name: String
    /// A sentence without its capital letter and full stop, in Markdown.
    var summary: String { section.summary }
    let section: KeySection
    /// What may stand in place of the section's mapping.
    var short: KeyValue?
    /// Whether the name means nothing without a section.
    var needsSection = false
}
