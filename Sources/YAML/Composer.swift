import CLibYAML

/// Reads the one document of a text, by the parser of libyaml.
package struct Composer {
    /// How deeply nodes may nest.
    private static let deepest = 200

    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let bytes: UnsafeBufferPointer<UInt8>

    /// The outermost node; nil for a text without one.
    ///
    /// Aliases are refused: a few lines of them can expand to more than fits in memory.
    ///
    /// - Throws: `YAMLError`, if the text is not YAML, has an alias, a key twice, more than one document, or nodes that nest too deeply.
    package static func compose(_ text: String) throws(YAMLError) -> Node? {
        try withComposer(text) { composer throws(YAMLError) in try composer.document() }
    }

    /// The first keys of the outermost mapping, as long as they are among these: what follows them is not parsed.
    ///
    /// - Throws: as `compose`, for what is parsed.
    package static func compose(_ text: String, while keys: Set<String>) throws(YAMLError) -> Mapping {
        // libyaml decodes all that it is given before it parses any of it.
        try withComposer(text, pieces: 256) { composer throws(YAMLError) in try composer.mapping(while: keys) }
    }

    /// - Parameter pieces: how many bytes the parser takes at a time.
    private static func withComposer<Result>(
        _ text: String, pieces: Int = .max, _ body: (Composer) throws(YAMLError) -> Result
    ) throws(YAMLError) -> Result {
        var parser = yaml_parser_t()
        // The parser keeps a pointer to itself: it has one address as long as it is used.
        return try withUnsafeMutablePointer(to: &parser) { parser throws(YAMLError) in
            guard yaml_parser_initialize(parser) == 1 else { throw YAMLError(message: "out of memory") }
            defer { yaml_parser_delete(parser) }
            return try Array(text.utf8).withUnsafeBufferPointer { bytes throws(YAMLError) in
                yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
                var input = Input(rest: bytes[...], pieces: pieces)
                return try withUnsafeMutablePointer(to: &input) { input throws(YAMLError) in
                    yaml_parser_set_input(parser, { Input.read($0, $1, $2, $3) }, input)
                    return try body(Composer(parser: parser, bytes: bytes))
                }
            }
        }
    }

    /// What the parser has not read.
    private struct Input {
        var rest: Slice<UnsafeBufferPointer<UInt8>>
        let pieces: Int

        /// The parser's read handler: fills its buffer, which is empty at the end.
        static func read(
            _ input: UnsafeMutableRawPointer?, _ buffer: UnsafeMutablePointer<UInt8>?, _ size: Int,
            _ count: UnsafeMutablePointer<Int>?
        ) -> Int32 {
            guard let input = input?.assumingMemoryBound(to: Input.self), let buffer, let count else { return 0 }
            let piece = input.pointee.rest.prefix(min(size, input.pointee.pieces))
            _ = UnsafeMutableBufferPointer(start: buffer, count: size).update(fromContentsOf: piece)
            input.pointee.rest = input.pointee.rest.dropFirst(piece.count)
            count.pointee = piece.count
            return 1
        }
    }

    private func document() throws(YAMLError) -> Node? {
        var root: Node?
        while true {
            let event = try next()
            switch event.kind {
            case .start: continue
            case .end: return root
            default:
                guard root == nil else {
                    throw YAMLError(message: "not YAML: expected one document, found another", mark: event.mark)
                }
                root = try node(event, depth: 0)
            }
        }
    }

    private func mapping(while keys: Set<String>) throws(YAMLError) -> Mapping {
        var event = try next()
        while case .start = event.kind { event = try next() }
        guard case .mappingStart = event.kind else { return [:] }
        var pairs: [Mapping.Element] = []
        while true {
            let event = try next()
            if case .mappingEnd = event.kind { break }
            let key = try node(event, depth: 1)
            guard let name = key.string, keys.contains(name) else { break }
            pairs.append((key: key, value: try node(next(), depth: 1)))
        }
        return Mapping(pairs)
    }

    private func node(_ event: Event, depth: Int) throws(YAMLError) -> Node {
        guard depth < Composer.deepest else {
            throw YAMLError(
                message: "more than \(Composer.deepest) lists and mappings in one another", mark: event.mark)
        }
        switch event.kind {
        case .scalar(let text, let isPlain):
            var node = Node(.scalar(text, isPlain: isPlain), mark: event.mark)
            node.isDoubleQuoted = event.isDoubleQuoted
            return node
        case .sequenceStart: return Node(.sequence(try sequence(depth)), mark: event.mark)
        case .mappingStart: return Node(.mapping(try mapping(depth)), mark: event.mark)
        case .alias: throw YAMLError(message: "aliases (*name) are not allowed", mark: event.mark)
        case .sequenceEnd, .mappingEnd, .start, .end:
            throw YAMLError(message: "not YAML: expected a value", mark: event.mark)
        }
    }

    private func sequence(_ depth: Int) throws(YAMLError) -> [Node] {
        var nodes: [Node] = []
        while true {
            let event = try next()
            if case .sequenceEnd = event.kind { return nodes }
            nodes.append(try node(event, depth: depth + 1))
        }
    }

    private func mapping(_ depth: Int) throws(YAMLError) -> Mapping {
        var pairs: [Mapping.Element] = []
        while true {
            let event = try next()
            if case .mappingEnd = event.kind { break }
            pairs.append((key: try node(event, depth: depth + 1), value: try node(next(), depth: depth + 1)))
        }
        if let error = Composer.repeatedKeys(pairs) { throw error }
        return Mapping(pairs)
    }

    /// The error for keys that appear more than once, at the second of the first such key; nil if there is none.
    private static func repeatedKeys(_ pairs: [Mapping.Element]) -> YAMLError? {
        var repeated: [Node] = []
        if pairs.count <= 16 {
            // The usual case, without a set.
            for (index, pair) in pairs.enumerated() {
                guard let key = pair.key.string else { continue }
                if pairs[..<index].contains(where: { $0.key.string == key }) { repeated.append(pair.key) }
            }
        } else {
            var known: Set<String> = []
            for (key, _) in pairs {
                if let text = key.string, !known.insert(text).inserted { repeated.append(key) }
            }
        }
        guard let first = repeated.first else { return nil }
        let names = Set(repeated.compactMap(\.string)).sorted()
        return YAMLError(message: "key \(names.joined(separator: ", ")) appears twice", mark: first.mark)
    }

    private func next() throws(YAMLError) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw YAMLError(parser.pointee, of: bytes) }
        defer { yaml_event_delete(&event) }
        return Event(event)
    }
}
