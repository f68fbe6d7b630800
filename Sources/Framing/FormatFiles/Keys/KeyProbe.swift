import YAML

/// Takes note of the keys that are read from a file, and may change what is read: tests compare that with what sections declare.
package final class KeyProbe {
    /// A key of a section.
    package struct Key: Hashable, Sendable, CustomStringConvertible {
        package var section: String
        package var key: String

        package init(section: String, key: String) { (self.section, self.key) = (section, key) }

        package var description: String { "\(section): \(key)" }
    }

    /// The keys that the file has and that were read.
    package private(set) var keys: Set<Key> = []
    /// The keys that were read where it was not said as which section.
    private var loose: [(key: String, path: String)] = []
    /// The sections as which the mappings at a path were read.
    private var sections: [String: [KeySection]] = [:]
    /// A key that is read as if the file did not have it.
    private let omitted: Key?
    /// The keys that are read as if the file had their defaults where it does not have them.
    private let given: Set<Key>

    package init(omitting omitted: Key? = nil, givingDefaultsOf given: Set<Key> = []) {
        (self.omitted, self.given) = (omitted, given)
    }

    /// Keys that were read from mappings that were never read as a section with them: whose keys are names, or are not declared.
    package var undeclared: [String] {
        loose.filter { key, path in !(sections[path] ?? []).contains { $0.names.contains(key) } }.map { key, path in
            "\(path): \(key)"
        }
    }

    /// Takes note of a key that is read where it is not said as which section.
    func read(_ key: String, at path: String) { loose.append((key, path)) }

    /// Takes note of a mapping that is read as a section.
    func reading(_ path: String, as section: KeySection) { sections[path, default: []].append(section) }

    /// What is read in place of a value.
    func value(_ value: Node?, of key: String, in section: KeySection) -> Node? {
        let own = Key(section: section.name, key: key)
        if own == omitted { return nil }
        if value != nil { keys.insert(own) }
        guard value == nil, given.contains(own), let standard = section[key]?.standard else { return value }
        return try? Composer.compose(standard)
    }
}
