import Streams
import Yams

/// Collects what is wrong with a file while it is being read, so that all of it can be said at once.
final class FaultList {
    private(set) var faults: [FormatFileError.Fault] = []

    func add(_ message: String, at node: Node?, columns: Int = 0) {
        add(message, mark: node?.mark, columns: columns)
    }

    func add(_ message: String, mark: Mark?, columns: Int = 0) {
        let fault = FormatFileError.Fault(
            line: mark?.line ?? 1, column: (mark?.column ?? 1) + columns, message: message)
        // What stands once for both directions is read twice.
        if !faults.contains(fault) { faults.append(fault) }
    }
}

/// A mapping of a format file, read key by key; says what is missing, of the wrong kind, or left over.
struct YAMLMap {
    let node: Node
    let path: String
    let faults: FaultList

    /// Nil, with a fault, where the node is no mapping.
    init?(_ node: Node, path: String, faults: FaultList) {
        guard node.mapping != nil else {
            faults.add("\(path) should be a mapping ({ key: value }), found \(node.kindName)", at: node)
            return nil
        }
        self.node = node
        self.path = path
        self.faults = faults
    }

    subscript(key: String) -> Node? { node.mapping?[Node(key)] }

    /// A fault for each key that is not among `known`, with the nearest one that is.
    func allow(_ known: [String]) {
        for (key, _) in node.mapping ?? [:] {
            let name = key.string ?? "?"
            guard !known.contains(name) else { continue }
            let nearest = known.min { editDistance($0, name) < editDistance($1, name) }
            var hint = "known are " + known.joined(separator: ", ")
            if let nearest, editDistance(nearest, name) <= 2 { hint = "did you mean \(nearest)?" }
            faults.add("unknown key \(name) in \(path); \(hint)", at: key)
        }
    }

    func text(_ key: String) -> String? {
        guard let node = self[key] else { return nil }
        if let text = node.string { return text }
        faults.add("\(path).\(key) should be text, found \(node.kindName)", at: node)
        return nil
    }

    func requiredText(_ key: String) -> String? {
        if self[key] == nil { faults.add("\(path) lacks \(key)", at: node) }
        return text(key)
    }

    func map(_ key: String) -> YAMLMap? {
        self[key].flatMap { YAMLMap($0, path: path == "the format" ? key : "\(path).\(key)", faults: faults) }
    }

    func texts(_ key: String) -> [(text: String, node: Node)] {
        guard let node = self[key] else { return [] }
        let items = node.sequence.map(Array.init) ?? [node]
        return items.compactMap { item in
            guard let text = item.string else {
                faults.add("\(path).\(key) should list text, found \(item.kindName)", at: item)
                return nil
            }
            return (text, item)
        }
    }

    /// A count of bytes, as in `64 KiB`; not 0.
    func byteCount(_ key: String, default standard: Int) -> Int {
        guard let node = self[key], let text = text(key) else { return standard }
        let units = ["": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "kB": 1_000, "MB": 1_000_000]
        let (digits, unit) = split(text)
        if let number = Int(digits), let factor = units[unit], number > 0, number <= Int(Int32.max) / factor {
            return number * factor
        }
        faults.add("\(path).\(key) is \(text); expected a count of bytes from 1 to 2 GiB, such as 64 KiB", at: node)
        return standard
    }

    /// A length of time, as in `200 ms`; not 0.
    func interval(_ key: String) -> Interval? {
        guard let node = self[key], let text = text(key) else { return nil }
        let units = ["ms": 0.001, "s": 1, "min": 60, "h": 3600]
        let (digits, unit) = split(text)
        if let number = Double(digits), let factor = units[unit], number > 0, number * factor < 1e9 {
            return .seconds(number * factor)
        }
        faults.add("\(path).\(key) is \(text); expected a length of time such as 200 ms, 1 s or 5 min", at: node)
        return nil
    }

    private func split(_ text: String) -> (digits: String, unit: String) {
        let digits = text.prefix { $0.isNumber || $0 == "." || $0 == "_" }
        return (digits.filter { $0 != "_" }, text.dropFirst(digits.count).filter { $0 != " " })
    }
}

extension Node {
    /// What kind of node it is, for people.
    var kindName: String {
        switch self {
        case .mapping: "a mapping"
        case .sequence: "a list"
        case .scalar(let scalar): scalar.string.isEmpty ? "nothing" : "\"\(scalar.string.prefix(40))\""
        case .alias: "an alias"
        }
    }
}

/// Levenshtein's distance, to find what a misspelt key was meant to be.
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
