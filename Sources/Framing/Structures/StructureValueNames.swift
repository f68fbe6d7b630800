import Streams

/// The names of the values of structured bodies.
extension Structure {
    /// Whether any value has a name.
    var hasNames: Bool {
        sequences.contains { sequence in
            sequence.items.contains { item in
                guard case .field(let field) = item.content else { return false }
                return !field.names.isEmpty || field.bits.contains { !$0.names.isEmpty }
            }
        }
    }

    /// The name of the value at a path, `code` or `options`, `0`, `code`, if the format has one.
    func valueName(at path: ArraySlice<String>, _ value: FieldValue) -> String? {
        for case .field(let field) in items(at: path).map(\.content) {
            let names = field.bits.first { $0.name == path.last }?.names ?? field.names
            if let name = names[value] { return name }
        }
        return nil
    }

    /// What the value at a path may be; several items if kinds of a choice have one of the same name.
    func items(at path: ArraySlice<String>) -> [Item] { sequences.isEmpty ? [] : items(at: path, in: 0) }

    private func items(at path: ArraySlice<String>, in sequence: Int) -> [Item] {
        guard let name = path.first else { return [] }
        return items(of: sequence).filter { $0.names.contains(name) }.flatMap {
            items(at: path.dropFirst(), inside: $0)
        }
    }

    private func items(at path: ArraySlice<String>, inside item: Item) -> [Item] {
        if path.isEmpty { return [item] }
        switch item.content {
        case .group(let inner): return items(at: path, in: inner)
        case .choice(let choices): return choices.flatMap { items(at: path, in: $0) }
        case .repeated(let inner, _):
            // The first step is an element's index, or what tells it from others.
            if let only = sequences[inner].only {
                return items(at: path.dropFirst(), inside: sequences[inner].items[only])
            }
            return items(at: path.dropFirst(), in: inner)
        default: return []
        }
    }
}

extension Structure.Item {
    /// Whether its value is a list or an object.
    var isContainer: Bool {
        switch self.content {
        case .group, .repeated, .choice, .lines: true
        case .literal, .field, .sized, .ended, .words, .computed, .body: false
        }
    }
}

extension BodyChain {
    /// The structure of its bodies; nil if they have none.
    var structure: Structure? { (encodings.last as? FieldsBody)?.structure }
}

extension DirectionFormat {
    /// The name of a value of the body, if the format has one.
    func name(of value: FieldValue, in path: [String], _ content: RawSpan, _ shape: FrameShape) -> String? {
        let body = body(of: shape)
        guard body.hasNames else { return nil }
        let chain = body.chain(for: nil, head: body.cases.isEmpty ? [] : headFields(of: content, shape))
        return chain.structure?.valueName(at: path.first == FieldsBody.name ? path.dropFirst() : path[...], value)
    }
}
