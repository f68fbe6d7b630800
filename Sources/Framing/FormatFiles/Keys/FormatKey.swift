/// A key of a section of format files: what its value may be, and what it means.
package struct FormatKey: Sendable {
    package let name: String
    package let value: KeyValue
    /// A sentence without its capital letter and full stop, in Markdown.
    package let meaning: String
    package let isRequired: Bool
    /// The value that stands for one that is left out, as a file would have it; nil if none does.
    package let standard: String?

    init(_ name: String, _ value: KeyValue, _ meaning: String, required isRequired: Bool = false) {
        (self.name, self.value, self.meaning, self.isRequired, standard) = (name, value, meaning, isRequired, nil)
    }

    init(_ name: String, _ value: KeyValue, _ meaning: String, default standard: String) {
        (self.name, self.value, self.meaning, isRequired, self.standard) = (name, value, meaning, false, standard)
    }
}
