/// The formats built into frametap, in the order that decides between equally good matches.
package enum BuiltInFormats {
    private typealias Source = (name: String, yaml: [UInt8])

    /// The systems. A new format is one file in its system's folder, a link to it in `Formats/`, and one line here.
    private static let systems: [Source] = [
        ("im-json", PackageResources.im_json_yaml),
        ("im-magic", PackageResources.im_magic_yaml),
        ("fixed", PackageResources.fixed_yaml),
        ("marker", PackageResources.marker_yaml),
        ("json-envelope", PackageResources.json_envelope_yaml),
        ("text-heartbeat", PackageResources.text_heartbeat_yaml),
        ("len16-id", PackageResources.len16_id_yaml),
        ("tlv32", PackageResources.tlv32_yaml),
        ("line", PackageResources.line_yaml),
    ]

    /// The framing rules, each usable by its own name without a format file. A new one is one file in `Formats/` and one line here.
    private static let rules: [Source] = [
        ("length-field", PackageResources.length_field_yaml),
        ("delimiter", PackageResources.delimiter_yaml),
        ("head-and-body", PackageResources.head_and_body_yaml),
        ("escaped", PackageResources.escaped_yaml),
        ("json-sequence", PackageResources.json_sequence_yaml),
        ("chunk", PackageResources.chunk_yaml),
        ("cobs", PackageResources.cobs_yaml),
    ]

    /// The names, in order.
    package static var names: [String] { systems.map(\.name) }

    /// The names of the framing rules that are not systems themselves.
    package static var ruleNames: [String] { rules.map(\.name) }

    /// The text of a built-in format's file; nil if there is none of that name.
    package static func yaml(of name: String) -> String? {
        (systems + rules).first { $0.name == name }.map { String(decoding: $0.yaml, as: UTF8.self) }
    }

    /// An outline of every built-in, systems and then framing rules, without loading the whole formats.
    package static var outlines: (systems: [FormatOutline], rules: [FormatOutline]) {
        func outlines(_ sources: [Source]) -> [FormatOutline] {
            sources.compactMap { FormatLoader.outline(String(decoding: $0.yaml, as: UTF8.self)) }
        }
        return (outlines(systems), outlines(rules))
    }

    /// A built-in format; nil if there is none of that name.
    ///
    /// - Parameter parameters: values that override its parameters' defaults.
    package static func format(
        named name: String, parameters: [String: String] = [:]
    ) throws(FormatFileError) -> Format? {
        guard let yaml = yaml(of: name) else { return nil }
        return try FormatLoader.load(yaml, file: name, parameters: parameters)
    }

    /// All built-in systems, in order.
    package static func all() throws(FormatFileError) -> [Format] {
        var formats: [Format] = []
        for name in names {
            if let format = try format(named: name) { formats.append(format) }
        }
        return formats
    }

    /// The same with variants: what a connection of an unknown format may have.
    package static func allWithVariants() throws(FormatFileError) -> [Format] {
        var formats: [Format] = []
        for system in systems {
            formats += try FormatLoader.loadWithVariant(String(decoding: system.yaml, as: UTF8.self), file: system.name)
        }
        return formats
    }
}

/// A one-line description of a format.
package struct FormatOutline: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// What it is.
    package var summary: String
    /// The servers' usual ports.
    package var ports: [UInt16]
}
