/// The formats that come with frametap, in the order that decides between equally good guesses.
public enum BuiltInFormats {
    /// The names, in order. A new format is one file in `Formats/` and one line here.
    private static let sources: [(name: String, yaml: [UInt8])] = [
        ("im-json", PackageResources.im_json_yaml)
    ]

    /// The names, in order.
    public static var names: [String] { sources.map(\.name) }

    /// The text of a built-in format's file; nil where there is none of that name.
    public static func yaml(of name: String) -> String? {
        sources.first { $0.name == name }.map { String(decoding: $0.yaml, as: UTF8.self) }
    }

    /// A built-in format; nil where there is none of that name.
    public static func format(named name: String) throws(FormatFileError) -> Format? {
        guard let yaml = yaml(of: name) else { return nil }
        return try FormatLoader.load(yaml, file: name)
    }

    /// All built-in formats, in order.
    public static func all() throws(FormatFileError) -> [Format] {
        var formats: [Format] = []
        for name in names {
            if let format = try format(named: name) { formats.append(format) }
        }
        return formats
    }
}
