import Framing
import Trace

/// A frame to send, as a line of JSON in which `${NAME}` stands for a value of an earlier answer.
package struct FrameTemplate: Sendable {
    private let line: JSONValue

    /// - Throws: `ReplayError` if the line is no JSON object.
    package init(_ text: String) throws(ReplayError) {
        do throws(JSONSyntaxError) { line = try JSONValue(parsing: Array(text.utf8).span.bytes) } catch {
            throw ReplayError("the frame \(text) is no JSON: \(error)")
        }
        guard case .object = line else {
            throw ReplayError("the frame \(text) is no object; expected {\"fields\": {…}, \"body\": {…}}")
        }
    }

    /// Whether values of answers may have to be filled in.
    var needsAnswers: Bool { line.compactText.contains("${") }

    /// What a line of a trace says about itself.
    func member(_ name: String) -> String? { line[name]?.string }

    /// The frame with the values of answers filled in.
    ///
    /// - Parameter answers: all of them, in order; the last one that has a value counts.
    /// - Throws: `ReplayError` if no answer has a value of that name.
    package func filled(from answers: [FrameEvent]) throws(ReplayError) -> JSONValue {
        try line.replacingTexts { text throws(ReplayError) in
            guard text.contains("${") else { return .text(text) }
            var rest = text[...]
            var filled = ""
            while let start = rest.firstRange(of: "${"), let end = rest[start.upperBound...].firstIndex(of: "}") {
                let name = String(rest[start.upperBound..<end])
                guard let value = answers.reversed().lazy.compactMap({ $0.value(named: name) }).first else {
                    throw ReplayError("no answer has a value \(name), which ${\(name)} stands for")
                }
                guard !value.isRedacted else {
                    throw ReplayError(
                        "the value \(name), which ${\(name)} stands for, is secret, and hidden in the answer; expected what hides it to be"
                            + " started with --show-secrets")
                }
                // A text that is nothing else becomes the value itself, such as a number.
                if rest.startIndex == text.startIndex, start.lowerBound == text.startIndex,
                    text.index(after: end) == text.endIndex
                {
                    return value
                }
                filled += rest[..<start.lowerBound] + (value.string ?? value.compactText)
                rest = rest[text.index(after: end)...]
            }
            return .text(filled + rest)
        }
    }
}

extension FrameEvent {
    /// A value by its name: of a field, of the body, or at any place of a JSON or Protobuf body; or by its path.
    fileprivate func value(named name: String) -> JSONValue? {
        let parts = name.split(separator: ".").map(String.init)
        if parts.count > 1, parts[0] == "fields" { return fields.value(at: parts.dropFirst()) }
        if parts.count > 1, parts[0] == "body" { return body.value(at: parts.dropFirst()) }
        return fields[name] ?? (body["json"] ?? body["protobuf"] ?? body["fields"])?.first(named: name) ?? body[name]
    }
}

extension JSONValue {
    /// Whether it is, or contains, a secret that was replaced.
    fileprivate var isRedacted: Bool { compactText.contains(JSONRedaction.mark) }

    fileprivate func value(at path: ArraySlice<String>) -> JSONValue? {
        guard let name = path.first else { return self }
        if case .array(let items) = self, let place = Int(name), items.indices.contains(place) {
            return items[place].value(at: path.dropFirst())
        }
        return self[name]?.value(at: path.dropFirst())
    }

    /// The first member of that name, however deep.
    fileprivate func first(named name: String) -> JSONValue? {
        switch self {
        case .object(let members):
            return self[name] ?? members.lazy.compactMap { $0.value.first(named: name) }.first
        case .array(let items): return items.lazy.compactMap { $0.first(named: name) }.first
        default: return nil
        }
    }

    fileprivate func replacingTexts(
        _ replace: (String) throws(ReplayError) -> JSONValue
    ) throws(ReplayError) -> JSONValue {
        switch self {
        case .text(let text): return try replace(text)
        case .array(let items):
            var replaced: [JSONValue] = []
            for item in items { replaced.append(try item.replacingTexts(replace)) }
            return .array(replaced)
        case .object(let members):
            var replaced: [Member] = []
            for member in members { replaced.append(Member(member.name, try member.value.replacingTexts(replace))) }
            return .object(replaced)
        default: return self
        }
    }

    /// With another value at a path, whose last name need not be there.
    package func setting(_ path: ArraySlice<String>, to value: JSONValue) -> JSONValue {
        guard let name = path.first else { return value }
        if case .array(var items) = self, let place = Int(name), items.indices.contains(place) {
            items[place] = items[place].setting(path.dropFirst(), to: value)
            return .array(items)
        }
        var members: [Member] = []
        if case .object(let known) = self { members = known }
        if let place = members.firstIndex(where: { $0.name == name }) {
            members[place].value = members[place].value.setting(path.dropFirst(), to: value)
        } else {
            members.append(Member(name, JSONValue.object([]).setting(path.dropFirst(), to: value)))
        }
        return .object(members)
    }
}
