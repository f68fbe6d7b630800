import YAML

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
    ///
    /// - Parameters:
    ///   - path: the file's path, for error messages.
    ///   - source: the text of another file by its path from this one's folder.
    static func resolve(_ file: YAMLMap, in path: String, _ source: Source?) -> Node {
        let (node, context) = (file.node, file.context)
        var chain: [Node] = []
        var current = node
        // The folder of the current file, from that of the first one.
        var folder = ""
        while let name = chain.isEmpty ? file["extends"] : current.member("extends") {
            guard let text = name.string else {
                context.add("extends should be the name of a format, found \(name.kindName)", at: name)
                break
            }
            guard chain.count < longest else {
                context.add("more than \(longest) formats extend one another", at: node.member("extends"))
                break
            }
            let other = isName(text) || text.hasPrefix("/") ? text : folder + text
            guard let yaml = Self.text(of: other, source) else {
                let known = BuiltInFormats.names + ExampleFormats.names.map { ExampleFormats.prefix + $0 }
                context.add(
                    "there is no format \(text) to extend; \(LoadContext.hint(text, known)). A file's name ends in .yaml, and is relative to this file",
                    at: name)
                break
            }
            let isBeside = !isName(other) && !other.hasPrefix("/")
            let lines = context.extended.add(isBeside ? Self.folder(of: path) + other : other)
            guard let base = FormatYAML.compose(yaml, context: context, after: lines),
                YAMLMap(base, path: FormatLoader.topPath, context: context) != nil
            else { break }
            chain.append(current)
            current = base
            folder = Self.folder(of: other)
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

    /// Whether a text names a format rather than a file.
    private static func isName(_ text: String) -> Bool {
        BuiltInFormats.yaml(of: text) != nil || text.hasPrefix(ExampleFormats.prefix)
    }

    /// The folder of a file, with the slash after it; empty if its path has none.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func merge(_ own: Node, over base: Node) -> Node {
        guard var result = base.mapping, let given = own.mapping else { return own }
        for (key, value) in given {
            let name = key.string ?? ""
            if merged.contains(name), let inherited = result[name], var inner = inherited.mapping,
                let more = value.mapping
            {
                for pair in more { inner.set(pair) }
                result.set((key: key, value: Node(.mapping(inner), mark: value.mark)))
            } else {
                result.set((key: key, value: value))
            }
        }
        // What says how frames are cut replaces all of that.
        let layouts = ["oneOf", "alternatives", "states"]
        for key in layouts where given[key] != nil {
            for other in layouts where other != key && given[other] == nil { result.remove(other) }
        }
        result.remove("extends")
        // What is missing is missing in the file that extends the other.
        return Node(.mapping(result), mark: own.mark)
    }
}
