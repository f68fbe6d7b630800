import Expressions
import Streams
import YAML

/// A structure while its items are read: the sequences so far, and the names that expressions may refer to.
final class StructureBuilding {
    let context: LoadContext
    let order: ByteOrder
    var structure = Structure()
    /// The names that conditions and sizes may refer to; nil: any.
    var known: Set<String>?
    /// The names that expressions refer to.
    var references: Set<String> = []
    /// Whether expressions may refer to the request that is answered.
    var mayAsk = false
    /// The names of values that earlier frames have left, which expressions may refer to.
    var remembered: Set<String> = []
    /// Whether expressions may refer to the frame's body.
    var mayReadBody = false
    /// Whether something says where the bytes end: a body, or an item with a size.
    var isBounded: Bool
    /// Whether the structure is that of a body or a type rather than a header.
    private let isBody: Bool
    /// The sequences of the file's types.
    private var types: [String: Int] = [:]
    /// Reads the fields that other headers have, too.
    private let fields: HeaderLoader

    init(context: LoadContext, order: ByteOrder, outside: Set<String>?, isBounded: Bool) {
        (self.context, self.order, self.isBounded, isBody) = (context, order, isBounded, isBounded)
        known = outside
        fields = HeaderLoader(context: context, order: order)
    }

    /// The names of a number's values.
    func names(_ map: YAMLMap) -> [FieldValue: String] { map["names"] == nil ? [:] : fields.names(map, ofText: false) }

    /// Completes the structure: marks the items whose values are needed later.
    func complete() {
        for sequence in structure.sequences.indices {
            for item in structure.sequences[sequence].items.indices {
                let names = structure.sequences[sequence].items[item].names
                if names.contains(where: references.contains) {
                    structure.sequences[sequence].items[item].isReferenced = true
                }
            }
        }
        structure.keepNames()
    }

    // MARK: Sequences

    /// Reads a list of items.
    func read(_ node: Node, into sequence: Int, path: String) {
        guard let items = node.sequence else {
            context.add("\(path) should be a list of fields (- name: type), found \(node.kindName)", at: node)
            return
        }
        for node in items {
            guard let item = self.item(node, path) else { continue }
            let known = structure.sequences[sequence].items.filter { $0.condition == nil || item.condition == nil }
            if let twice = Self.ownNames(item).first(where: known.flatMap(Self.ownNames).contains) {
                context.add("\(path) has the field \(twice) twice, once without a condition", at: node)
            }
            if case .field(let field) = item.content, field.checksum != nil, isBody || sequence > 0 {
                context.add(
                    "\(path): a checksum can only be a field of the header itself or of the trailer, not in a body, a list or a group",
                    at: node)
            }
            structure.sequences[sequence].items.append(item)
        }
    }

    /// Reads one of the file's types as all of the structure.
    func readType(_ node: Node, path: String) {
        let type = sequence(node, path: path)
        // A type that does not exist is a fault already.
        if type > 0 { structure.sequences[0].items.append(Structure.Item(name: "", content: .group(type))) }
    }

    /// The names of an item and of its bits. Lines may have words of the same name.
    private static func ownNames(_ item: Structure.Item) -> [String] {
        if case .words = item.content { return [] }
        return item.names
    }

    /// Reads what is inside an item, which may have a size of its own.
    private func inside<Result>(_ map: YAMLMap, _ read: () -> Result) -> Result {
        let around = isBounded
        defer { isBounded = around }
        if map.has("size") { isBounded = true }
        return read()
    }

    /// Reports an item that takes what is left where nothing says how much that is.
    private func requireEnd(_ map: YAMLMap, _ key: String) {
        guard !isBounded else { return }
        map.fault("\(map.path).\(key) is rest, but nothing around it has a size", at: key)
    }

    /// A sequence of its own.
    private func sequence(_ node: Node, path: String) -> Int {
        if let name = node.string { return type(name, at: node) }
        structure.sequences.append(Structure.Sequence())
        let index = structure.sequences.count - 1
        read(node, into: index, path: path)
        return index
    }

    /// One of the file's types.
    private func type(_ name: String, at node: Node) -> Int {
        if let known = types[name] { return known }
        guard let own = context.types[name] else {
            let names = context.types.keys.sorted()
            let hint = names.isEmpty ? "the format has no types" : LoadContext.hint(name, names)
            context.add("there is no type \(name); \(hint)", at: node)
            return 0
        }
        structure.sequences.append(Structure.Sequence())
        let index = structure.sequences.count - 1
        types[name] = index
        // What a type refers to may be defined where it is used, and so may what bounds it.
        let (outside, around) = (known, isBounded)
        (known, isBounded) = (nil, true)
        if own.sequence != nil {
            read(own, into: index, path: "types.\(name)")
        } else if let map = YAMLMap(own, path: "types.\(name)", context: context)?.reading(StructureKeys.typeChoice) {
            structure.sequences[index].items = [Structure.Item(name: "", content: .choice(alternatives(map)))]
        }
        (known, isBounded) = (outside, around)
        return index
    }

    private func alternatives(_ map: YAMLMap) -> [Int] {
        guard let list = map["oneOf"]?.sequence else {
            map.fault("\(map.path).oneOf should be a list of lists of fields", at: "oneOf")
            return []
        }
        if list.isEmpty { map.fault("\(map.path).oneOf is empty", at: "oneOf") }
        return inside(map) { list.enumerated().map { sequence($1, path: "\(map.path).oneOf[\($0)]") } }
    }

    // MARK: Items

    private func item(_ node: Node, _ path: String) -> Structure.Item? {
        if let text = node.string {
            context.warnOfEscapes(node)
            return Structure.Item(name: "", content: .literal([UInt8](written: text), ignoresCase: false))
        }
        if let section = StructureKeys.unnamed(node, context.types) {
            return YAMLMap(node, path: path, context: context).flatMap { unnamed($0.reading(section), section) }
        }
        guard let pair = node.mapping?.first, node.mapping?.count == 1, let name = pair.key.string else {
            context.add(
                "a field of \(path) should be a constant or one name and its type (- name: u16), found \(node.kindName)",
                at: node)
            return nil
        }
        let item = named(name, pair.value)
        known?.insert(name)
        if case .field(let field)? = item?.content { known?.formUnion(field.bits.map(\.name)) }
        return item
    }

    private func unnamed(_ map: YAMLMap, _ section: KeySection) -> Structure.Item? {
        // Conditions and sizes refer to what comes before, not to the item itself.
        let own = section === StructureKeys.group ? (condition: condition(map), size: size(map)) : nil
        let content: Structure.Content?
        switch section {
        case StructureKeys.literal:
            let ignoresCase = map.boolean("ignoreCase") ?? false
            content = map.requiredText("literal").map { .literal([UInt8](written: $0), ignoresCase: ignoresCase) }
        case StructureKeys.words:
            let line = WordLine(map)
            known?.formUnion(line?.words.map(\.name) ?? [])
            content = line.map { .words($0) }
        case StructureKeys.choice: content = .choice(alternatives(map))
        default: content = .group(inside(map) { sequence(map["fields"] ?? map.node, path: map.path) })
        }
        guard let content else { return nil }
        // Those of the file's types.
        switch content {
        case .group(let sequence): known?.formUnion(structure.names(of: sequence))
        case .choice(let choices): for choice in choices { known?.formUnion(structure.names(of: choice)) }
        default: break
        }
        var item = Structure.Item(name: "", content: content)
        (item.condition, item.size) = own ?? (condition(map), nil)
        return item
    }

    private func named(_ name: String, _ node: Node) -> Structure.Item? {
        if node.isScalar {
            return fields.field(name, node).map { Structure.Item(name: name, content: .field($0)) }
        }
        guard let map = YAMLMap(node, path: "the field \(name)", context: context) else { return nil }
        let section = StructureKeys.named(map)
        return named(name, map.reading(section), section)
    }

    private func named(_ name: String, _ map: YAMLMap, _ section: KeySection) -> Structure.Item? {
        // Conditions and sizes refer to what comes before, not to the item itself.
        let condition = condition(map)
        let size = map.has("size") ? self.size(map) : nil
        guard let content = content(name, map, section) else { return nil }
        var item = Structure.Item(name: name, condition: condition, content: content)
        switch content {
        case .field, .ended, .words, .lines, .computed, .literal: item.size = nil
        default: item.size = size
        }
        item.allowed = allowed(map, item)
        if map.has("byteOrder"), map["byteOrder"]?.mapping != nil {
            item.littleEndian = map.map("byteOrder", StructureKeys.flag).flatMap { expression($0, "little") }
        }
        return item
    }

    private func content(_ name: String, _ map: YAMLMap, _ section: KeySection) -> Structure.Content? {
        switch section {
        case StructureKeys.list: return list(map)
        case StructureKeys.use: return map.requiredText("use").map { .group(type($0, at: map["use"] ?? map.node)) }
        case StructureKeys.namedChoice: return .choice(alternatives(map))
        case StructureKeys.namedGroup:
            return .group(inside(map) { sequence(map["fields"] ?? map.node, path: map.path) })
        case StructureKeys.value: return expression(map, "value").map { .computed($0) }
        case StructureKeys.lines: return HeaderLines(map).map { .lines($0) }
        case StructureKeys.body:
            guard let node = map["body"] else { return nil }
            if map["size"] == nil { map.fault("\(map.path) lacks size") }
            let chain = BodyChain(node, path: "\(map.path).body", context: map.context)
            if !isBody, !chain.keyNames(default: "").isEmpty {
                map.fault(
                    "\(map.path) needs a key, which a body in a header cannot have; use one in the body", at: "body")
            }
            return .body(chain)
        case StructureKeys.ended: return ended(map, isText: map.text("type") == "string")
        case StructureKeys.text:
            requireSize(map)
            return .sized(.text(padding: map.integer("padding").map(UInt8.init)))
        case StructureKeys.bytes:
            requireSize(map)
            return .sized(.bytes)
        case StructureKeys.number:
            requireSize(map)
            let order = map.choice("byteOrder", ByteOrder.self) ?? order
            return .sized(map.text("type") == "uint" ? .unsigned(order) : .signed(order))
        default: return fields.field(name, map.node, StructureKeys.field).map { .field($0) }
        }
    }

    private func requireSize(_ map: YAMLMap) {
        if map["size"] == nil {
            map.fault("\(map.path) lacks size (how many bytes) or ends (the bytes at its end)")
        }
    }

    private func list(_ map: YAMLMap) -> Structure.Content? {
        let iterations: Structure.Iterations
        if let mark = map.text("until") {
            iterations = .until([UInt8](written: mark))
            if mark.isEmpty { map.fault("until is empty; expected the bytes that end the list", at: "until") }
        } else {
            if let own = map["repeat"], own.member("while") != nil, let options = map.map("repeat", StructureKeys.again)
            {
                guard let of = map["of"] else {
                    map.fault("\(map.path) lacks of: the fields that repeat")
                    return nil
                }
                let sequence = elements(of, map)
                return expression(options, "while").map { .repeated(sequence, .again($0)) }
            }
            if let own = map["repeat"], own.mapping != nil {
                guard let prefix = fields.field("the count", own) else { return nil }
                return map["of"].map { .repeated(elements($0, map), .prefix(prefix)) }
            }
            guard let text = map.requiredText("repeat") else { return nil }
            if text == "rest" {
                if map["size"] == nil { requireEnd(map, "repeat") }
                iterations = .rest
            } else if let prefix = prefix(map, "repeat", text) {
                iterations = .prefix(prefix)
            } else {
                guard let count = expression(map, "repeat") else { return nil }
                iterations = .count(count)
            }
        }
        guard let of = map["of"] else {
            map.fault("\(map.path) lacks of: the fields that repeat")
            return nil
        }
        return .repeated(elements(of, map), iterations)
    }

    /// The sequence of a list's elements.
    private func elements(_ of: Node, _ map: YAMLMap) -> Int {
        let sequence = inside(map) { self.sequence(of, path: "\(map.path).of") }
        let items = structure.sequences[sequence].items
        let shown = items.indices.filter { !items[$0].names.isEmpty || !items[$0].isConstant }
        if shown.count == 1, items[shown[0]].names.count == 1 { structure.sequences[sequence].only = shown[0] }
        return sequence
    }

    private func ended(_ map: YAMLMap, isText: Bool) -> Structure.Content? {
        let ends = map.ends("ends")
        guard !ends.isEmpty else { return nil }
        return .ended(
            TextEnd(
                ends: ends, isText: isText, most: map.byteCount("limit"),
                mayBeQuoted: map.boolean("quoted") ?? false))
    }

    // MARK: Sizes and conditions

    private func size(_ map: YAMLMap) -> Structure.Size? {
        if let own = map["size"], own.mapping != nil {
            return fields.field("the size", own).map { .prefix($0) }
        }
        guard let text = map.text("size") else { return nil }
        if text == "rest" {
            requireEnd(map, "size")
            return .rest
        }
        if let prefix = prefix(map, "size", text) { return .prefix(prefix) }
        return expression(map, "size").map { .count($0) }
    }

    /// The number of a type's name; nil if the text is none.
    private func prefix(_ map: YAMLMap, _ key: String, _ text: String) -> HeaderField? {
        guard known?.contains(text) != true, HeaderLoader.isNumberType(text), let node = map[key] else {
            return nil
        }
        return fields.field("the \(key) of \(map.path)", node)
    }

    private func condition(_ map: YAMLMap) -> Expression? {
        map["when"] == nil ? nil : expression(map, "when")
    }

    /// An expression of values that come before; others are faults.
    func expression(_ map: YAMLMap, _ key: String) -> Expression? {
        guard let source = map.requiredText(key) else { return nil }
        do throws(ExpressionError) {
            return try Expression(parsing: source) { [self] path in
                let path = path.first == "fields" && path.count > 1 ? Array(path.dropFirst()) : path
                references.formUnion(path)
                if path[0] == "request", known?.contains("request") != true {
                    return mayAsk ? nil : "request is known only where the server's framing says how its bodies end"
                }
                if path[0] == Remembering.root, known?.contains(path[0]) != true {
                    if path.count == 2, remembered.contains(path[1]) { return nil }
                    return path.count == 2 && !remembered.isEmpty
                        ? "frames leave no value \(path[1]); \(LoadContext.hint(path[1], remembered.sorted()))"
                        : "last.NAME is known only where the framing's remembers has that name"
                }
                if path[0] == "body", mayReadBody, path.count > 1 { return nil }
                guard let known, !known.contains(path[0]), path != StructuredHead.lengthPath else { return nil }
                return known.isEmpty
                    ? "there is no field \(path[0]) before it"
                    : "there is no field \(path[0]) before it; \(LoadContext.hint(path[0], known.sorted()))"
            }
        } catch {
            context.add("\(map.path).\(key): \(error.message)", at: map[key], columns: error.column - 1)
            return nil
        }
    }

    /// `equals: [1, 2, 5..9]`
    private func allowed(_ map: YAMLMap, _ item: Structure.Item) -> [AllowedValues] {
        guard map.has("equals") else { return [] }
        if case .field(let field) = item.content, field.constant != nil { return [] }
        return AllowedValues.read(map)
    }
}
