import Expressions
import Streams
import YAML

/// The types that frames may have, where the format names all of them: a word that is none of them is mostly misspelled.
struct KnownTypes {
    /// Those of each side; nil: any.
    private let sides: PerDirection<Names?>

    /// The types of one side's frames, or of both.
    struct Names {
        var names: Set<String> = []
        /// Whether values without a name are types, too: numbers.
        var hasNumbers = false

        /// Whether frames may have a type.
        func allows(_ type: String) -> Bool { names.contains(type) || hasNumbers && Double(type) != nil }

        func union(_ other: Names) -> Names {
            Names(names: names.union(other.names), hasNumbers: hasNumbers || other.hasNumbers)
        }

        /// What is wrong with a type that no frame has; nil if some may have it.
        func complaint(about type: String) -> String? {
            if names.isEmpty || allows(type) { return nil }
            return "no frame has the type \(type); \(LoadContext.hint(type, names.sorted()))"
        }
    }

    /// The types of a format's sides; nil if either could not be read.
    init?(client: DirectionFormat?, server: DirectionFormat?) {
        guard let client, let server else { return nil }
        sides = PerDirection(fromClient: client.knownTypes, fromServer: server.knownTypes)
    }

    /// The types of the frames of both sides.
    private var all: Names? {
        sides.fromClient.flatMap { client in sides.fromServer.map { client.union($0) } }
    }

    /// Warns of types that no frame has, under `byType` of the bodies of the file and of its sides.
    func check(_ top: YAMLMap) {
        let bodies =
            [(top.node, all), (top.node.member("client"), sides.fromClient)]
            + [(top.node.member("server"), sides.fromServer)]
        for (section, names) in bodies {
            for (key, _) in section?.member("body")?.member("byType")?.mapping ?? [:] {
                guard let names, let complaint = key.string.flatMap({ names.complaint(about: $0) }) else { continue }
                top.context.warn("body.byType: \(complaint)", at: key)
            }
        }
    }

    /// Warns of types that no frame has, in a condition.
    func check(_ condition: Expression, at node: Node?, _ context: LoadContext) {
        guard let all else { return }
        for type in condition.texts(comparedWith: ["type"]) {
            if let complaint = all.complaint(about: type) { context.warn(complaint, at: node) }
        }
    }
}

/// What is probably wrong with a condition.
package enum ConditionCheck {
    /// Comparisons, by `==`, `!=` and `in`, with what no frame of these formats has: a type, or text for a number.
    ///
    /// A condition is checked only against what all formats say: one whose types or fields may be any allows everything.
    package static func complaints(about condition: Expression, in formats: [Format]) -> [String] {
        let sides = formats.filter(\.isFramed).flatMap { [$0.directions.fromClient, $0.directions.fromServer] }
        guard !sides.isEmpty else { return [] }
        var complaints: [String] = []
        // If those of one side may be any, so may all.
        let types = sides.map(\.knownTypes)
        if let all = types.dropFirst().reduce(types[0], { all, own in own.flatMap { all?.union($0) } }) {
            complaints += condition.texts(comparedWith: ["type"]).compactMap { all.complaint(about: $0) }
        }
        for path in Set(condition.paths) where path.count == 2 && path[0] == "fields" {
            let texts = condition.texts(comparedWith: path).filter { Double($0) == nil }
            guard !texts.isEmpty, let names = numbers(called: path[1], in: sides) else { continue }
            for text in texts {
                let number = names.first { $0.name == text }.map { "; \(text) is \($0.number)" } ?? ""
                complaints.append("fields.\(path[1]) is a number, and never \"\(text)\"\(number)")
            }
        }
        return complaints
    }

    /// The names of a field's values; nil if the field is not a number in every frame that has it.
    private static func numbers(
        called name: String, in sides: [DirectionFormat]
    ) -> [(name: String, number: String)]? {
        var names: [(name: String, number: String)] = []
        var isThere = false
        for layout in sides.flatMap(\.layouts) {
            guard layout.head == nil || layout.head is BinaryHead else { return nil }
            for field in ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? [])
            where field.name == name {
                switch field.kind {
                case .unsigned, .signed, .varint: break
                default: return nil
                }
                isThere = true
                names += field.names.map { ($0.value, $0.key.plainText ?? "?") }
            }
        }
        return isThere ? names : nil
    }
}

extension DirectionFormat {
    /// The types of its frames; nil if they may have any.
    fileprivate var knownTypes: KnownTypes.Names? {
        let ofLayouts = Set(layouts.compactMap(\.name))
        switch typeName {
        case .none, .value: return nil
        case .layout: return KnownTypes.Names(names: ofLayouts)
        case .field(let field): return types(of: field)
        case .cases(let cases):
            var known = KnownTypes.Names()
            for type in cases {
                switch type.name {
                case .text(let name): known.names.insert(name)
                case .place(.field(let field)):
                    guard let types = types(of: field) else { return nil }
                    known = known.union(types)
                case .place: return nil
                }
            }
            return known
        }
    }

    /// The types that a field gives frames, and those of the kinds that do not have it.
    private func types(of field: String) -> KnownTypes.Names? {
        var known = KnownTypes.Names(names: Set(layouts.compactMap(\.name)))
        for layout in layouts {
            if layout.head != nil, layout.head as? BinaryHead == nil, layout.head as? StructuredHead == nil {
                return nil
            }
            var fields = ((layout.head as? BinaryHead)?.fields ?? []) + (layout.trailer?.fields ?? [])
            if let structure = (layout.head as? StructuredHead)?.structure {
                // Kinds of a choice may each have one.
                let items = structure.items(of: 0).filter { $0.names.contains(field) }
                let own = items.compactMap { if case .field(let own) = $0.content { own } else { nil } }
                guard own.count == items.count, !items.isEmpty else { return nil }
                fields += own
            }
            for own in fields {
                let bits = own.bits.filter { $0.name == field }
                guard own.name == field || !bits.isEmpty else { continue }
                switch own.kind {
                case .unsigned, .signed, .varint: break
                // Anything else, such as text, may have any value.
                default: return nil
                }
                known.names.formUnion(own.name == field ? own.names.values : bits[0].names.values)
                known.hasNumbers = true
            }
        }
        return known
    }
}
