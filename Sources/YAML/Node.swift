/// A node of a YAML document (YAML 1.1, section 3.2.1). Tags are ignored: what a scalar means depends on where it is.
package struct Node: Sendable {
    /// What a node holds.
    package enum Content: Sendable {
        /// Text, and whether it was written without quotes and not as a block.
        case scalar(String, isPlain: Bool)
        case sequence([Node])
        case mapping(Mapping)
    }

    package var content: Content
    /// Where it begins; nil for nodes that were not read from a text.
    package var mark: Mark?
    /// Whether it is text in double quotes, in which a backslash escapes.
    package var isDoubleQuoted = false

    package init(_ content: Content, mark: Mark? = nil) {
        (self.content, self.mark) = (content, mark)
    }

    /// A plain scalar.
    package init(_ text: String) { self.init(.scalar(text, isPlain: true)) }

    /// The text of a scalar; nil for other nodes.
    package var string: String? {
        guard case .scalar(let text, _) = content else { return nil }
        return text
    }

    /// Whether it is a scalar.
    package var isScalar: Bool { string != nil }

    /// The nodes of a sequence; nil for other nodes.
    package var sequence: [Node]? {
        guard case .sequence(let nodes) = content else { return nil }
        return nodes
    }

    /// The keys and values of a mapping; nil for other nodes.
    package var mapping: Mapping? {
        guard case .mapping(let mapping) = content else { return nil }
        return mapping
    }
}

/// A place in a text: the line and column, both from 1, the column in Unicode scalars.
package struct Mark: Sendable, Hashable {
    package var line: Int
    package var column: Int

    package init(line: Int, column: Int) { (self.line, self.column) = (line, column) }
}
