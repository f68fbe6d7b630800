import YAML

/// The YAML of format files, with its limits.
package enum FormatYAML {
    /// The outermost node; nil, with faults, if the text is not YAML, or too large.
    ///
    /// - Parameter lines: how many lines are counted before the first one.
    package static func compose(_ yaml: String, context: LoadContext, after lines: Int = 0) -> Node? {
        func add(_ message: String, _ mark: Mark? = nil) {
            context.add(message, line: lines + (mark?.line ?? 1), column: mark?.column ?? 1)
        }
        guard yaml.utf8.count <= FormatLoader.largestFile else {
            add("the file has \(yaml.utf8.count) bytes, the limit is \(FormatLoader.largestFile)")
            return nil
        }
        // Editors on Windows begin a file with a byte order mark, which would count as a column.
        let yaml = yaml.unicodeScalars.first == "\u{feff}" ? String(yaml.unicodeScalars.dropFirst()) : yaml
        do {
            if let node = try Composer.compose(yaml) { return lines == 0 ? node : node.moved(by: lines) }
            add("the file is empty; expected a format, such as `frametap formats show im-json` prints")
        } catch {
            add(error.message, error.mark)
        }
        return nil
    }
}

extension Node {
    /// The node, and those in it, this many lines further down.
    fileprivate func moved(by lines: Int) -> Node {
        var node = self
        node.mark?.line += lines
        switch content {
        case .scalar: break
        case .sequence(let nodes): node.content = .sequence(nodes.map { $0.moved(by: lines) })
        case .mapping(let pairs):
            node.content = .mapping(
                Mapping(pairs.map { (key: $0.key.moved(by: lines), value: $0.value.moved(by: lines)) }))
        }
        return node
    }
}
