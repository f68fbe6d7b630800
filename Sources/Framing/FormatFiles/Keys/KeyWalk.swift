/// Everything that a section refers to, in the order in which it is found: each section and each shared value once.
struct KeyWalk {
    enum Part {
        case section(KeySection)
        case shared(SharedValue)

        var name: String {
            switch self {
            case .section(let section): section.name
            case .shared(let value): value.name
            }
        }
    }

    private(set) var parts: [Part] = []
    private var sections: Set<ObjectIdentifier> = []
    private var values: Set<String> = []

    /// The names of all parts.
    var names: [String] { parts.map(\.name) }

    init(_ root: KeySection) { visit(root) }

    private mutating func visit(_ section: KeySection) {
        guard sections.insert(ObjectIdentifier(section)).inserted else { return }
        parts.append(.section(section))
        for key in section.keys { visit(key.value) }
    }

    private mutating func visit(_ value: KeyValue) {
        switch value {
        case .nested(let section): visit(section())
        case .shared(let value):
            guard values.insert(value.name).inserted else { return }
            parts.append(.shared(value))
            visit(value.value())
        case .list(let value, _, _), .mapping(let value, _, _), .entry(let value, _): visit(value)
        case .any(let values): for value in values { visit(value) }
        case .selected(_, let options), .optioned(let options):
            for option in options() {
                visit(option.section)
                if let short = option.short { visit(short) }
            }
        default: break
        }
    }
}
