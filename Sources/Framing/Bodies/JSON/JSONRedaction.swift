import Streams

/// Replaces the values at some paths of a JSON text.
package struct JSONRedaction {
    /// What a secret is shown as.
    package static let mark = "«secret»"

    private let paths: [[[UInt8]]]
    /// Of each component such as `tag=9`, the member's name and value; nil for others.
    private let choices: [[Choice?]]
    /// Whether ASCII letters of names may have the other case, as in header lines.
    private let ignoresCase: Bool
    /// Whether text is replaced where a path goes on: a body that could not be read.
    private let hidesUnread: Bool
    /// For each open container, how far each path has been followed. Paths not followed cost nothing.
    private var followed: [[Step]] = []
    private var indices: [Int] = []

    /// Indices of a path and of its next component.
    private struct Step: Equatable {
        var path: Int
        var component: Int
    }

    /// The elements of a list that have a member of this name and value.
    private struct Choice {
        var name: String
        var value: String

        init?(_ component: String) {
            guard let sign = component.firstIndex(of: "=") else { return nil }
            (name, value) = (String(component[..<sign]), String(component[component.index(after: sign)...]))
        }
    }

    /// A redaction of the values at these paths: names of members, indices into arrays, and `tag=9` for all objects in an array
    /// whose `tag` is 9. A name applied to an array is looked up in each of its elements.
    ///
    /// - Parameters:
    ///   - ignoresCase: whether ASCII letters of names may have the other case.
    ///   - hidesUnread: whether text in place of an object on the way to a value is replaced, too.
    package init(
        _ paths: [[String]], ignoringCase ignoresCase: Bool = false, hidingUnread hidesUnread: Bool = false
    ) {
        self.paths = paths.map { $0.map { Array($0.utf8) } }
        choices = paths.map { $0.map { Choice($0) } }
        self.ignoresCase = ignoresCase
        self.hidesUnread = hidesUnread
    }

    /// The text, compact, with the values replaced; nil if it is not JSON.
    package mutating func of(_ text: RawSpan) -> [UInt8]? {
        var output = JSONCompaction()
        var tokens = JSONTokens()
        var key: Range<Int>?
        /// How many containers are open inside a value that is replaced.
        var hidden = 0
        do throws(JSONSyntaxError) {
            while let token = try tokens.next(text) {
                if hidden > 0 {
                    switch token {
                    case .beginObject, .beginArray: hidden += 1
                    case .endObject, .endArray: hidden -= 1
                    case .key, .scalar: break
                    }
                    continue
                }
                switch token {
                case .key(let range):
                    key = range
                    output.append(token, of: text)
                case .endObject, .endArray:
                    followed.removeLast()
                    indices.removeLast()
                    output.append(token, of: text)
                case .scalar, .beginObject, .beginArray:
                    var isContainer = true
                    if case .scalar = token { isContainer = false }
                    var steps = self.steps(to: key, text)
                    // An element: after the brace come its members.
                    if key == nil, case .beginObject = token, let around = followed.last {
                        let more = chosen(around, tokens, text)
                        for step in more where !steps.contains(step) { steps.append(step) }
                    }
                    var isSecret = steps.contains { $0.component == paths[$0.path].count }
                    if hidesUnread, !isSecret, case .scalar(.string, _) = token {
                        isSecret = steps.contains { mayLead($0, inside: key) }
                    }
                    key = nil
                    if isSecret {
                        output.append(string: Self.mark)
                        if isContainer { hidden = 1 }
                    } else {
                        output.append(token, of: text)
                        if isContainer {
                            followed.append(steps)
                            indices.append(0)
                        }
                    }
                }
            }
        } catch {
            return nil
        }
        return output.bytes
    }

    /// Which paths lead to the value that starts here, and how far.
    private mutating func steps(to key: Range<Int>?, _ text: RawSpan) -> [Step] {
        guard let around = followed.last else { return paths.indices.map { Step(path: $0, component: 0) } }
        guard let key else {
            let index = indices[indices.count - 1]
            indices[indices.count - 1] += 1
            if around.isEmpty { return [] }
            let name = Array(String(index).utf8)
            var steps = around
            let more = next(around, name.span.bytes)
            for step in more where !steps.contains(step) { steps.append(step) }
            return steps
        }
        if around.isEmpty { return [] }
        // Between the quotes.
        let name = text.extracting(key.lowerBound + 1..<key.upperBound - 1)
        guard (0..<name.byteCount).contains(where: { name[unchecked: $0] == UInt8(ascii: "\\") }) else {
            return next(around, name)
        }
        let decoded = Array(JSONText.string(key, escaped: true, in: text).utf8)
        return next(around, decoded.span.bytes)
    }

    /// Whether a path may lead into a text rather than past it, to another element of the list.
    private func mayLead(_ step: Step, inside key: Range<Int>?) -> Bool {
        let component = String(decoding: paths[step.path][step.component], as: UTF8.self)
        return key != nil || Int(component) == nil
    }

    /// Which paths an object fulfils by a member that they ask for, and how far they lead then.
    ///
    /// - Parameter tokens: the object's, after its brace.
    private func chosen(_ steps: [Step], _ tokens: JSONTokens, _ text: RawSpan) -> [Step] {
        let asking = steps.filter { choices[$0.path][$0.component] != nil }
        guard !asking.isEmpty else { return [] }
        var found: [Step] = []
        var tokens = tokens
        var key = ""
        var depth = 0
        do throws(JSONSyntaxError) {
            while let token = try tokens.next(text) {
                switch token {
                case .beginObject, .beginArray: depth += 1
                case .endObject, .endArray:
                    if depth == 0 { return found }
                    depth -= 1
                case .key(let range): if depth == 0 { key = JSONText.string(range, escaped: true, in: text) }
                case .scalar(_, let range):
                    guard depth == 0 else { continue }
                    let value = plainText(range, text)
                    for step in asking {
                        guard let choice = choices[step.path][step.component], choice.value == value,
                            choice.name == key || ignoresCase && choice.name.lowercased() == key.lowercased()
                        else { continue }
                        let next = Step(path: step.path, component: step.component + 1)
                        if !found.contains(next) { found.append(next) }
                    }
                }
            }
        } catch {
            return found
        }
        return found
    }

    /// The text of a scalar, without quotes.
    private func plainText(_ range: Range<Int>, _ text: RawSpan) -> String {
        if text[byte: range.lowerBound] == UInt8(ascii: "\"") { return JSONText.string(range, escaped: true, in: text) }
        return String(decoding: text.extracting(range).copied(), as: UTF8.self)
    }

    private func equals(_ component: [UInt8], _ name: RawSpan) -> Bool {
        guard ignoresCase else { return component.span.bytes.elementsEqual(name) }
        guard component.count == name.byteCount else { return false }
        return component.indices.allSatisfy { component[$0].lowercased == name[byte: $0].lowercased }
    }

    private func next(_ steps: [Step], _ name: RawSpan) -> [Step] {
        var next: [Step] = []
        for step in steps {
            let component = paths[step.path][step.component]
            guard equals(component, name) else { continue }
            let step = Step(path: step.path, component: step.component + 1)
            if !next.contains(step) { next.append(step) }
        }
        return next
    }
}
