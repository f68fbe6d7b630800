/// A section of format files: a mapping, with the keys that it may have.
///
/// A section is declared once, where it is read, as a `static let`: the loader refuses all other keys, and the schema and the
/// reference are made from it.
package final class KeySection: Sendable {
    /// How the reference and `frametap formats keys` call it: `heartbeat.answer`.
    package let name: String
    /// A sentence without its capital letter and full stop, in Markdown.
    package let summary: String
    package let keys: [FormatKey]
    /// The names of the keys.
    let names: [String]
    /// What must be there beside the required keys.
    let needs: [KeyNeed]

    init(_ name: String, _ summary: String, needs: [KeyNeed] = [], _ keys: [FormatKey]) {
        self.name = name
        self.summary = summary
        self.needs = needs
        self.keys = keys
        names = keys.map(\.name)
    }

    /// The key of that name.
    subscript(name: String) -> FormatKey? { keys.first { $0.name == name } }
}

extension KeySection: Equatable {
    package static func == (one: KeySection, other: KeySection) -> Bool { one === other }
}

/// Keys of which some must be there.
enum KeyNeed: Sendable {
    /// All keys of at least one of these groups.
    case any([[String]])
    /// Exactly one of these keys.
    case one([String])
    /// All keys of at least one of these groups, if a key has one of these words.
    case when(String, [String], any: [[String]])
}
