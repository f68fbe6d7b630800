import Yams

/// `extends`: a format that takes what it does not say itself from another one, so that a family shares its header.
///
///     extends: family.yaml          # or a built-in format, or example:NAME
///     format: family-two
///     names: { commands: { 9: reboot } }
///
/// Keys of the file replace those of the other; `names`, `types`, `formats`, `parameters`, `states`, `client` and `server` are merged
/// key by key.
enum FormatExtension {
    /// The text of another format by its name, as `extends` has it; nil if there is none.
    typealias Source = (_ name: String) -> String?

    private static let merged = ["names", "types", "formats", "parameters", "states", "client", "server"]
    /// How many formats may extend one another.
    private static let longest = 8

    /// The outermost mapping with what it inherits; the node itself if it extends nothing.
    static func resolve(_ file: YAMLMap, _ source: Source?) -> Node {
        let (node, context) = (file.node, file.context)
        var chain: [Node] = []
        var current = node
        while let name = chain.isEmpty ? file["extends"] : current.member("extends") {
            guard let text = name.string else {
                context.add("extends should be the name of a format, found \(name.kindName)", at: name)
                break
            }
            guard chain.count < longest else {
                context.add("more than \(longest) formats extend one another", at: node.member("extends"))
                break
            }
            guard let yaml = Self.text(of: text, source) else {
                let known = BuiltInFormats.names + ExampleFormats.names.map { ExampleFormats.prefix + $0 }
                context.add(
                    "there is no format \(text) to extend; \(LoadContext.hint(text, known)). A file's name ends in .yaml",
                    at: chain.isEmpty ? name : node.member("extends"))
                break
            }
            guard let base = FormatYAML.compose(yaml, context: context), base.mapping != nil else { break }
            chain.append(current)
            current = base
        }
        return chain.reversed().reduce(current) { merge($1, over: $0) }
    }

    private static func text(of name: String, _ source: Source?) -> String? {
        if let yaml = BuiltInFormats.yaml(of: name) { return yaml }
        if name.hasPrefix(ExampleFormats.prefix) {
            return ExampleFormats.yaml(of: String(name.dropFirst(ExampleFormats.prefix.count)))
        }
        return source?(name)
    }

    private static func merge(_ own: Node, over base: Node) -> Node {
        guard case .mapping(var result) = base, case .mapping(let given) = own else { return own }
        for (key, value) in given {
            let name = key.string ?? ""
            if merged.contains(name), case .mapping(var inner)? = result[key], case .mapping(let more) = value {
                for (key, value) in more { inner[key] = value }
                result[key] = .mapping(inner)
            } else {
                result[key] = value
            }
        }
        // What says how frames are cut replaces all of that.
        let layouts = ["oneOf", "alternatives", "states"]
        for key in layouts where given[Node(key)] != nil {
            for other in layouts where other != key && given[Node(other)] == nil { result[Node(other)] = nil }
        }
        result[Node("extends")] = nil
        return .mapping(result)
    }
}
