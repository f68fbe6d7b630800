import Streams
import YAML

/// The state of reading a file: the values of parameters, and the faults so far, so that all can be reported at once.
package final class LoadContext {
    package private(set) var faults: [FormatFileError.Fault] = []
    /// What is allowed, but mostly unintended.
    private(set) var warnings: [FormatFileError.Fault] = []
    /// The fields that frames have, as far as they were read; nil if they may have any.
    var fields: Set<String>?
    /// How the bodies of frames of any kind are decoded; nil while that is not known.
    var bodies: [BodyFormat]?
    /// The types that frames have, once they are known; nil if they may have any.
    var frameTypes: KnownTypes?
    /// The values of `$name`.
    var parameters: [String: String] = [:]
    /// Value names shared by fields, by the name of the list.
    var sharedNames: [String: YAMLMap] = [:]
    /// The number of choices between readings.
    var choices = 0
    /// The fields that say what the checksums of the frames being read cover.
    var checksumEnds: [(text: String, node: Node)] = []
    /// The file's types: lists of fields that several places use.
    var types: [String: Node] = [:]
    /// The byte order of structured bodies, and the header's fields that they may refer to; nil: any.
    var bodyOrder = ByteOrder.big
    var headNames: Set<String>?
    /// The formats that the file describes for what is inside its bodies, and how deeply they are nested.
    var formats: [String: Node] = [:]
    var nesting = 0
    /// The files that it extends.
    var extended = ExtendedFiles()
    /// The side that is being read.
    var side = Direction.fromClient
    /// What takes note of keys, for tests.
    var probe: KeyProbe?

    /// No faults so far.
    package init() {}

    /// Reports a fault in a node.
    package func add(_ message: String, at node: Node?, columns: Int = 0) {
        add(message, mark: node?.mark, columns: columns)
    }

    func add(_ message: String, mark: Mark?, columns: Int = 0) {
        add(message, line: mark?.line ?? 1, column: (mark?.column ?? 1) + columns)
    }

    /// Reports a warning about a node.
    func warn(_ message: String, at node: Node?) {
        let warning = FormatFileError.Fault(
            line: node?.mark?.line ?? 1, column: node?.mark?.column ?? 1, message: message)
        if !warnings.contains(warning) { warnings.append(warning) }
    }

    /// Warns of bytes with escapes that are none, as they are not in double quotes.
    func warnOfEscapes(_ node: Node) {
        guard node.hasBackslash, let text = node.string else { return }
        let rest = text.split(separator: "\\", omittingEmptySubsequences: false).dropFirst()
        guard rest.contains(where: { "rnt0x".contains($0.first ?? " ") }) else { return }
        warn("\(text) is not in double quotes, so it has no escapes: for the bytes, write \"\(text)\"", at: node)
    }

    func add(_ message: String, line: Int, column: Int) {
        let fault = FormatFileError.Fault(line: line, column: column, message: message)
        // A section shared by both directions is read twice.
        if !faults.contains(fault) { faults.append(fault) }
    }

    /// The text of a scalar, with `$name` replaced by the parameter's value.
    func text(of node: Node) -> String? {
        guard let text = node.string else { return nil }
        guard text.hasPrefix("$"), text.count > 1 else { return text }
        let name = String(text.dropFirst())
        if let value = parameters[name] { return value }
        let known = parameters.keys.sorted().joined(separator: ", ")
        add("there is no parameter \(name); \(known.isEmpty ? "the format has none" : "known are \(known)")", at: node)
        return nil
    }

    /// The one of `known` that a misspelt word probably means, or all of them.
    package static func hint(_ name: String, _ known: [String]) -> String {
        if known.isEmpty { return "none are known" }
        if let nearest = nearest(name, known) { return "did you mean \(nearest)?" }
        return "known are \(known.joined(separator: ", "))"
    }

    /// The one of `known` that a misspelt word probably means; nil if it resembles none.
    static func nearest(_ name: String, _ known: [String]) -> String? {
        let nearest = known.min { editDistance($0, name) < editDistance($1, name) }
        return nearest.flatMap { editDistance($0, name) <= max(1, min(2, name.count / 2)) ? $0 : nil }
    }
}

/// A mapping of a format file, read key by key; reports keys that are missing, of the wrong kind, or unknown.
package struct YAMLMap {
    package let node: Node
    package let path: String
    package let context: LoadContext
    /// The section that it is read as; nil while that is not decided, or if its keys are names.
    private(set) var section: KeySection?

    private init(node: Node, path: String, context: LoadContext, section: KeySection?) {
        (self.node, self.path, self.context, self.section) = (node, path, context, section)
    }

    /// Nil, with a fault, if the node is not a mapping.
    package init?(_ node: Node, path: String, context: LoadContext) {
        guard node.mapping != nil else {
            context.add("\(path) should be a mapping ({ key: value }), found \(node.kindName)", at: node)
            return nil
        }
        self.node = node
        self.path = path
        self.context = context
    }

    /// The node at a key, which the section must declare.
    package subscript(key: String) -> Node? {
        guard let section else {
            let value = node.member(key)
            if value != nil { context.probe?.read(key, at: path) }
            return value
        }
        assert(section.names.contains(key), "the section \(section.name) does not declare \(key)")
        guard let probe = context.probe else { return node.member(key) }
        return probe.value(node.member(key), of: key, in: section)
    }

    /// The mapping as a section: a fault for each key that the section does not have.
    func reading(_ section: KeySection) -> YAMLMap {
        allow(section.names)
        context.probe?.reading(path, as: section)
        var map = self
        map.section = section
        return map
    }

    /// A fault for each key that is not among `known`, with the nearest one that is.
    package func allow(_ known: [String]) {
        for (key, _) in node.mapping ?? [:] {
            let name = key.string ?? "?"
            guard !known.contains(name) else { continue }
            context.add("unknown key \(name) in \(path); \(LoadContext.hint(name, known))", at: key)
        }
    }

    /// Reports a fault in the value at a key.
    package func fault(_ message: String, at key: String? = nil) {
        context.add(message, at: key.flatMap { self[$0] } ?? node)
    }

    /// The text at a key.
    package func text(_ key: String) -> String? {
        guard let node = self[key] else { return nil }
        if node.isScalar {
            warnOfEscapes(node, key)
            return context.text(of: node)
        }
        context.add("\(name(key)) should be text, found \(node.kindName)", at: node)
        return nil
    }

    /// Warns of escapes in bytes that are not in double quotes.
    private func warnOfEscapes(_ node: Node, _ key: String) {
        guard node.hasBackslash, section?[key]?.value.isBytes == true else { return }
        context.warnOfEscapes(node)
    }

    /// The text at a required key.
    package func requiredText(_ key: String) -> String? {
        if self[key] == nil { context.add("\(path) lacks \(key)", at: node) }
        return text(key)
    }

    package func map(_ key: String) -> YAMLMap? {
        self[key].flatMap { YAMLMap($0, path: name(key), context: context) }
    }

    /// Whether the section declares a key, and the mapping has it.
    func has(_ key: String) -> Bool { section?.names.contains(key) != false && self[key] != nil }

    /// The mapping with another node in place of its own.
    func with(_ mapping: Mapping) -> YAMLMap {
        YAMLMap(node: Node(.mapping(mapping), mark: node.mark), path: path, context: context, section: section)
    }

    /// The section at a key.
    func map(_ key: String, _ section: KeySection) -> YAMLMap? { map(key)?.reading(section) }

    /// The sections of a list.
    func maps(_ key: String, _ section: KeySection) -> [YAMLMap]? { maps(key)?.map { $0.reading(section) } }

    /// The mappings of a list.
    package func maps(_ key: String) -> [YAMLMap]? {
        guard let node = self[key] else { return nil }
        guard let items = node.sequence else {
            context.add("\(name(key)) should be a list, found \(node.kindName)", at: node)
            return nil
        }
        return items.enumerated().compactMap { YAMLMap($1, path: "\(name(key))[\($0)]", context: context) }
    }

    func texts(_ key: String) -> [(text: String, node: Node)] {
        guard let node = self[key] else { return [] }
        let items = node.sequence ?? [node]
        return items.compactMap { item in
            warnOfEscapes(item, key)
            guard item.isScalar, let text = context.text(of: item) else {
                context.add("\(name(key)) should list text, found \(item.kindName)", at: item)
                return nil
            }
            return (text, item)
        }
    }

    /// A whole number, decimal or hexadecimal, in the range that the section declares.
    func integer(_ key: String) -> Int? {
        guard case .integer(let range)? = section?[key]?.value else {
            assertionFailure("\(section?.name ?? path) does not declare the range of \(key)")
            return nil
        }
        return integer(key, in: range)
    }

    /// The same, of a required key.
    func requiredInteger(_ key: String) -> Int? {
        if self[key] == nil { context.add("\(path) lacks \(key)", at: node) }
        return integer(key)
    }

    /// A whole number, decimal or hexadecimal.
    package func integer(_ key: String, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(key) else { return nil }
        if let number = Int(number: text), range.contains(number) { return number }
        fault(
            "\(name(key)) is \(text); expected a whole number from \(range.lowerBound) to \(range.upperBound)", at: key)
        return nil
    }

    package func boolean(_ key: String) -> Bool? {
        guard let text = text(key) else { return nil }
        switch text {
        case "true", "yes": return true
        case "false", "no": return false
        default:
            fault("\(name(key)) is \(text); expected true or false", at: key)
            return nil
        }
    }

    /// One of a fixed list of words.
    package func choice<Choice: CaseIterable & RawRepresentable<String>>(_ key: String, _: Choice.Type) -> Choice? {
        guard let text = text(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        fault("\(name(key)) is \(text); \(LoadContext.hint(text, Choice.allCases.map(\.rawValue)))", at: key)
        return nil
    }

    /// A count of bytes, as in `64 KiB`, not 0; by default what the section declares.
    func byteCount(_ key: String) -> Int {
        let standard = section?[key]?.standard.flatMap(byteCount(of:))
        assert(standard != nil, "\(section?.name ?? path) does not declare the default of \(key)")
        return byteCount(key, default: standard ?? .max)
    }

    /// A count of bytes, as in `64 KiB`; not 0.
    package func byteCount(_ key: String, default standard: Int) -> Int {
        guard let text = text(key) else { return standard }
        if let count = byteCount(of: text) { return count }
        fault("\(name(key)) is \(text); expected a count of bytes from 1 to 2 GiB, such as 64 KiB", at: key)
        return standard
    }

    private func byteCount(of text: String) -> Int? {
        let units = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1_000, "MB": 1_000_000]
        let (digits, unit) = split(text)
        guard let number = Int(digits), let factor = units[unit], number > 0, number <= Int(Int32.max) / factor else {
            return nil
        }
        return number * factor
    }

    /// A length of time, as in `200 ms`; not 0.
    package func interval(_ key: String) -> Interval? {
        guard let text = text(key) else { return nil }
        let units = ["ms": 0.001, "s": 1, "min": 60, "h": 3600]
        let (digits, unit) = split(text)
        if let number = Double(digits), let factor = units[unit], number > 0, number * factor < 1e9 {
            return .seconds(number * factor)
        }
        fault("\(name(key)) is \(text); expected a length of time such as 200 ms, 1 s or 5 min", at: key)
        return nil
    }

    private func split(_ text: String) -> (digits: String, unit: String) {
        let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "_" }
        return (digits.filter { $0 != "_" }, text.dropFirst(digits.count).filter { $0 != " " })
    }

    private func name(_ key: String) -> String { path == FormatLoader.topPath ? key : "\(path).\(key)" }
}

extension Int {
    /// A number as written in format files: `12`, `-1`, `0x20170817`.
    init?(number text: String) {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative ? text.dropFirst() : text[...]
        let value = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits)
        guard let value, digits.first != "-", digits.first != "+" else { return nil }
        self = isNegative ? -value : value
    }
}

extension FieldValue {
    /// A whole number as written in format files, of up to 64 bits.
    init?(number text: String) {
        if let number = Int(number: text) {
            self = .integer(Int64(number))
            return
        }
        let number = text.hasPrefix("0x") ? UInt64(text.dropFirst(2), radix: 16) : UInt64(text)
        guard let number, text.first != "+" else { return nil }
        self = FieldValue(number)
    }
}

extension [UInt8] {
    /// Bytes as written in format files: text, or `0x` and two hex digits per byte, since not all bytes are text.
    init(written text: String) {
        let digits = text.hasPrefix("0x") ? text.dropFirst(2) : ""
        self = (digits.isEmpty ? nil : FieldValue.text(String(digits)).rawBytes) ?? Array(text.utf8)
    }
}

extension Node {
    /// The value of a mapping's key; nil if there is none, or the node is not a mapping.
    func member(_ name: String) -> Node? {
        mapping?[name]
    }

    /// Whether it is text with a backslash that escapes nothing.
    fileprivate var hasBackslash: Bool { !isDoubleQuoted && string?.utf8.contains(UInt8(ascii: "\\")) == true }

    /// Human-readable: the kind of node.
    var kindName: String {
        switch content {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let text, _): text.isEmpty ? "nothing" : "\"\(text.prefix(40))\""
        }
    }
}

/// The Levenshtein distance, to find what a misspelt word means.
func editDistance(_ left: String, _ right: String) -> Int {
    let right = Array(right.prefix(64))
    var row = Array(0...right.count)
    for (i, a) in left.prefix(64).enumerated() {
        var diagonal = row[0]
        row[0] = i + 1
        for (j, b) in right.enumerated() {
            let next = min(row[j] + 1, row[j + 1] + 1, diagonal + (a == b ? 0 : 1))
            diagonal = row[j + 1]
            row[j + 1] = next
        }
    }
    return row[right.count]
}
