/// A text that names no format: why, and what was expected.
public struct FormatNameError: Error, Sendable, CustomStringConvertible {
    /// The problem, and what was expected.
    public let description: String

    init(_ description: String) { self.description = description }
}

/// Formats by the names that users give them.
package enum FormatName {
    /// A built-in format, rule or example by its name, or the format that a file describes, with parameters after a colon:
    /// `im-json`, `fixed:size=8`, `example:redis`, `chat.yaml`.
    ///
    /// - Parameters:
    ///   - contents: the text of a file.
    ///   - other: the text of a file that another one extends, by the name that it gives, and the other one's path; nil if there
    ///     is none.
    /// - Throws: `FormatNameError`, a `FormatFileError` for a file, or what `contents` throws.
    package static func format(
        _ text: String, contents: (String) throws -> String, other: @escaping (String, String) -> String?
    ) throws -> Format {
        if text.hasPrefix(ExampleFormats.prefix) { return try example(text) }
        let request = try FormatRequest(text)
        let name = request.name
        if BuiltInFormats.yaml(of: name) != nil {
            do throws(FormatFileError) {
                if let format = try BuiltInFormats.format(named: name, parameters: request.parameters) { return format }
            } catch {
                // A position in a file that the user never saw would be meaningless.
                throw FormatNameError("\(text): " + error.faults.map(\.message).joined(separator: "; "))
            }
        }
        guard name.contains("/") || name.hasSuffix(".yaml") || name.hasSuffix(".yml") else { throw unknown(name, text) }
        return try FormatLoader.loadWithWarnings(
            try contents(name), file: name, parameters: request.parameters, source: { other($0, name) }
        ).format
    }

    /// An example: `example:NAME`, with parameters after another colon.
    private static func example(_ text: String) throws(FormatNameError) -> Format {
        let request = try FormatRequest(String(text.dropFirst(ExampleFormats.prefix.count)))
        guard let yaml = ExampleFormats.yaml(of: request.name) else {
            throw FormatNameError(
                "\(text): there is no such example; \(known(near: ExampleFormats.prefix + request.name))")
        }
        do throws(FormatFileError) {
            return try FormatLoader.load(yaml, file: text, parameters: request.parameters)
        } catch {
            throw FormatNameError("\(text): " + error.faults.map(\.message).joined(separator: "; "))
        }
    }

    private static func unknown(_ name: String, _ text: String) -> FormatNameError {
        let built = name.split(separator: ":", maxSplits: 1).first.map(String.init) ?? ""
        if name.contains(":"), BuiltInFormats.yaml(of: built) != nil {
            return FormatNameError("\(text): expected parameters, such as \(built):key=value,…")
        }
        let parts = name.split(separator: "=", maxSplits: 1).map(String.init)
        if parts.count == 2, BuiltInFormats.yaml(of: parts[1]) != nil {
            return FormatNameError("\(text): \(parts[0]) is no port; expected a number from 0 to 65535")
        }
        return FormatNameError(
            "\(text): there is no such format; \(known(near: name)). A format file's name ends in .yaml")
    }

    /// The names that there are, after the one that a misspelt name probably means.
    package static func known(near name: String) -> String {
        let known = BuiltInFormats.names + BuiltInFormats.ruleNames
        let isExample = name.hasPrefix(ExampleFormats.prefix)
        let own = isExample ? String(name.dropFirst(ExampleFormats.prefix.count)) : name
        var hint = ""
        if let nearest = LoadContext.nearest(own, isExample ? ExampleFormats.names : known + ExampleFormats.names) {
            let prefix = known.contains(nearest) ? "" : ExampleFormats.prefix
            hint = "did you mean \(prefix)\(nearest)? "
        }
        let all = isExample ? ExampleFormats.names.map { ExampleFormats.prefix + $0 } : known
        return "\(hint)\(isExample ? "the examples" : "built in") are \(all.joined(separator: ", "))"
    }
}
