import YAML

/// The YAML of format files, with its limits.
package enum FormatYAML {
    /// The outermost node; nil, with faults, if the text is not YAML, or too large.
    package static func compose(_ yaml: String, context: LoadContext) -> Node? {
        guard yaml.utf8.count <= FormatLoader.largestFile else {
            context.add("the file has \(yaml.utf8.count) bytes, the limit is \(FormatLoader.largestFile)", at: nil)
            return nil
        }
        // Editors on Windows begin a file with a byte order mark, which would count as a column.
        let yaml = yaml.unicodeScalars.first == "\u{feff}" ? String(yaml.unicodeScalars.dropFirst()) : yaml
        do {
            if let node = try Composer.compose(yaml) { return node }
            context.add("the file is empty; expected a format, such as `frametap formats show im-json` prints", at: nil)
        } catch {
            context.add(error.message, mark: error.mark)
        }
        return nil
    }
}
