import Framing

/// Where a value is in a frame: `type`, `fields.token`, `body.json.user.id`, `body.json.items[0]`.
package struct FieldPath: Hashable, Sendable, CustomStringConvertible {
    /// A step from a value to one inside it.
    package enum Step: Hashable, Sendable {
        /// A member of an object.
        case member(String)
        /// An element of an array.
        case element(Int)
        /// Any member or element: `*`. Only in patterns.
        case any

        /// Whether steps are the same: names are if their bytes are, as in `JSONValue`.
        package static func == (left: Step, right: Step) -> Bool {
            switch (left, right) {
            case (.member(let left), .member(let right)): left.hasBytes(of: right)
            case (.element(let left), .element(let right)): left == right
            case (.any, .any): true
            default: false
            }
        }

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .member(let name): name.hashBytes(into: &hasher)
            case .element(let index): hasher.combine(index)
            case .any: hasher.combine(-1)
            }
        }
    }

    /// The steps, starting at the frame.
    package var steps: [Step]

    /// A path of steps.
    package init(_ steps: [Step]) {
        self.steps = steps
    }

    /// Parses a path in the form of `description`; `*` and `[*]` match any step. Nil if it is not a path.
    package init?(_ text: String) {
        var steps: [Step] = []
        var rest = text[...]
        while let first = rest.first {
            if first == "[" {
                guard let step = Self.bracketed(&rest) else { return nil }
                steps.append(step)
            } else {
                if first == "." {
                    if steps.isEmpty { return nil }
                    rest.removeFirst()
                } else if !steps.isEmpty {
                    return nil
                }
                let name = rest.prefix { $0 != "." && $0 != "[" }
                if name.isEmpty { return nil }
                rest = rest.dropFirst(name.count)
                steps.append(name == "*" ? .any : .member(String(name)))
            }
        }
        if steps.isEmpty { return nil }
        self.steps = steps
    }

    /// `[3]`, `[*]`, `["a.b"]`
    private static func bracketed(_ rest: inout Substring) -> Step? {
        rest.removeFirst()
        if rest.first == "\"" {
            rest.removeFirst()
            var name = ""
            while let character = rest.popFirst(), character != "\"" {
                name.append(character == "\\" ? rest.popFirst() ?? "\\" : character)
            }
            return rest.popFirst() == "]" ? .member(name) : nil
        }
        guard let end = rest.firstIndex(of: "]") else { return nil }
        let inside = rest[..<end]
        rest = rest[rest.index(after: end)...]
        if inside == "*" { return .any }
        return Int(inside).flatMap { $0 >= 0 ? .element($0) : nil }
    }

    /// The path as text.
    package var description: String {
        var text = ""
        for step in steps {
            switch step {
            case .element(let index): text += "[\(index)]"
            case .any: text += text.isEmpty ? "*" : ".*"
            case .member(let name):
                let isPlain = !name.isEmpty && name != "*" && !name.contains { ".[]\"\\".contains($0) }
                if isPlain {
                    text += text.isEmpty ? name : ".\(name)"
                } else {
                    let escaped = name.reduce(into: "") { $0 += "\"\\".contains($1) ? "\\\($1)" : "\($1)" }
                    text += "[\"\(escaped)\"]"
                }
            }
        }
        return text
    }

    /// The kinds of bodies.
    static let bodyForms: Set<String> = ["text", "json", "protobuf", "fields", "hex", "length", "missing", "truncated"]

    /// Whether a path is at or inside the place of this pattern.
    ///
    /// `body.token` also matches `body.json.token`, `body.protobuf.token` and `body.fields.token`.
    func covers(_ path: [Step]) -> Bool {
        if Self.matches(steps[...], path[...]) { return true }
        guard let inside = insideBody(path) else { return false }
        return Self.matches(inside.pattern, inside.path)
    }

    /// Whether something that an object or a list at a path may contain is at the place of this pattern.
    func reaches(into path: [Step], isList: Bool) -> Bool {
        if Self.reaches(steps[...], into: path[...], isList: isList) { return true }
        guard let inside = insideBody(path) else { return false }
        return Self.reaches(inside.pattern, into: inside.path, isList: isList)
    }

    /// What is left of this pattern and of a path after the body's form, if the pattern leaves the form out.
    private func insideBody(_ path: [Step]) -> (pattern: ArraySlice<Step>, path: ArraySlice<Step>)? {
        guard steps.count > 1, steps[0] == .member("body"), path.count > 1, path[0] == .member("body"),
            path[1] == .member("json") || path[1] == .member("protobuf") || path[1] == .member("fields")
        else { return nil }
        if case .member(let form) = steps[1], Self.bodyForms.contains(form) { return nil }
        return (steps.dropFirst(), path.dropFirst(2))
    }

    private static func matches(_ pattern: ArraySlice<Step>, _ path: ArraySlice<Step>) -> Bool {
        pattern.count <= path.count && zip(pattern, path).allSatisfy { $0 == .any || $0 == $1 }
    }

    private static func reaches(_ pattern: ArraySlice<Step>, into path: ArraySlice<Step>, isList: Bool) -> Bool {
        guard let next = pattern.dropFirst(path.count).first, matches(pattern.prefix(path.count), path) else {
            return false
        }
        return switch next {
        case .any: true
        case .member: !isList
        case .element: isList
        }
    }
}
