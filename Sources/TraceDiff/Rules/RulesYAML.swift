import Expressions
import Framing
import Streams
import Trace
import YAML

/// Rules as a YAML file (`docs/diff.md`).
package enum RulesYAML {
    private static let topPath = "the rules"

    private enum Sender: String, CaseIterable { case client, server }

    /// The rules of a file.
    package static func rules(in yaml: String, file: String) throws(FormatFileError) -> TraceRules {
        let context = LoadContext()
        var rules = TraceRules()
        // A file without rules, such as --learn writes for equal runs, is empty except for its comment.
        let isEmpty = yaml.split(separator: "\n").allSatisfy {
            $0.drop { $0 == " " }.first == "#" || $0.allSatisfy(\.isWhitespace)
        }
        if !isEmpty, let node = FormatYAML.compose(yaml, context: context),
            let top = YAMLMap(node, path: topPath, context: context)
        {
            top.allow(["mask", "bind", "ignore", "unordered"])
            rules.masks = list(top, "mask", context) { mask($0, $1, context) }
            var names: Set<String> = []
            rules.bindings = list(top, "bind", context) { node, path in
                guard let binding = binding(node, path, context) else { return nil }
                if !names.insert(binding.name).inserted {
                    context.add("\(path).name is \(binding.name), as that of another one is", at: node)
                }
                return binding
            }
            for ignored in list(top, "ignore", context, { ignored($0, $1, context) }) {
                switch ignored {
                case .place(let place): rules.ignored.append(place)
                case .frames(let frames): rules.ignoredFrames.append(frames)
                }
            }
            rules.unordered = list(top, "unordered", context) { frames($0, $1, context) }
        }
        guard context.faults.isEmpty else { throw FormatFileError(file: file, faults: context.faults) }
        return rules
    }

    private static func list<Rule>(
        _ top: YAMLMap, _ key: String, _ context: LoadContext, _ read: (Node, String) -> Rule?
    ) -> [Rule] {
        guard let node = top[key] else { return [] }
        guard let items = node.sequence else {
            context.add("\(key) should be a list", at: node)
            return []
        }
        return items.enumerated().compactMap { read($1, "\(key)[\($0)]") }
    }

    /// `fields.token`, or `{ from: client, type: login, path: fields.token }`
    private static func place(
        _ node: Node, _ path: String, _ context: LoadContext, others: [String] = []
    ) -> TraceRules.Place? {
        if let text = node.string {
            if let path = FieldPath(text) { return TraceRules.Place(path: path) }
            context.add("\(path) is \(text); \(expectedPath)", at: node)
            return nil
        }
        guard let map = YAMLMap(node, path: path, context: context) else { return nil }
        map.allow(["from", "type", "path"] + others)
        guard let text = map.requiredText("path") else { return nil }
        guard let steps = FieldPath(text) else {
            map.fault("\(path).path is \(text); \(expectedPath)", at: "path")
            return nil
        }
        return TraceRules.Place(from: sender(map), type: map.text("type"), path: steps)
    }

    private static func sender(_ map: YAMLMap) -> Direction? {
        map.choice("from", Sender.self).map { $0 == .client ? .fromClient : .fromServer }
    }

    private enum Ignored {
        case place(TraceRules.Place)
        case frames(TraceRules.Frames)
    }

    /// A place, or without a path, frames.
    private static func ignored(_ node: Node, _ path: String, _ context: LoadContext) -> Ignored? {
        guard node.mapping != nil, let map = YAMLMap(node, path: path, context: context), map["path"] == nil else {
            return place(node, path, context).map { .place($0) }
        }
        return frames(node, path, context, others: ["path"]).map { .frames($0) }
    }

    /// `{ from: server, type: push }`, or one of both
    private static func frames(
        _ node: Node, _ path: String, _ context: LoadContext, others: [String] = []
    ) -> TraceRules.Frames? {
        guard let map = YAMLMap(node, path: path, context: context) else { return nil }
        map.allow(["from", "type"] + others)
        if map["from"] == nil, map["type"] == nil {
            map.fault("\(path) lacks \((["from", "type"] + others).joined(separator: " or "))")
            return nil
        }
        return TraceRules.Frames(from: sender(map), type: map.text("type"))
    }

    private static let expectedPath = "expected a path such as fields.token or body.json.items[0].id"

    private static func mask(_ node: Node, _ path: String, _ context: LoadContext) -> TraceRules.Mask? {
        guard let place = place(node, path, context, others: ["pattern", "like"]) else { return nil }
        guard node.mapping != nil, let map = YAMLMap(node, path: path, context: context) else {
            return TraceRules.Mask(place)
        }
        if let text = map.text("like") {
            if map["pattern"] != nil {
                map.fault("\(path) has both like and pattern; expected one of them", at: "like")
            }
            guard let template = TextTemplate(text) else {
                let kinds = Placeholder.Kind.allCases.map { "«\($0.rawValue)»" }.joined(separator: ", ")
                map.fault("\(path).like has no placeholder; known are \(kinds)", at: "like")
                return nil
            }
            return TraceRules.Mask(place, template: template)
        }
        guard let text = map.text("pattern") else { return TraceRules.Mask(place) }
        do throws(ExpressionError) {
            return TraceRules.Mask(place, pattern: try Pattern(parsing: text))
        } catch {
            map.fault("\(path).pattern: \(error)", at: "pattern")
            return nil
        }
    }

    private static func binding(_ node: Node, _ path: String, _ context: LoadContext) -> TraceRules.Binding? {
        guard let map = YAMLMap(node, path: path, context: context) else { return nil }
        map.allow(["name", "places"])
        guard let name = map.requiredText("name") else { return nil }
        let places = list(map, "places", context) { place($0, "\(path).\($1)", context) }
        if places.count < 2 {
            map.fault("\(path).places should list two places or more, found \(places.count)", at: "places")
        }
        return TraceRules.Binding(name: name, places: places)
    }

    // MARK: Writing

    /// The file of rules.
    ///
    /// - Parameters:
    ///   - runs: the runs they were learned from, for the comment.
    ///   - notes: additional lines for the comment.
    package static func text(of rules: TraceRules, runs: [String], notes: [String] = []) -> String {
        var text = "# Learned by frametap diff --learn from \(runs.joined(separator: ", ")).\n"
        for note in notes { text += "# \(note)\n" }
        if rules == TraceRules() { return text + "# The runs are the same without rules.\n" }
        if !rules.masks.isEmpty {
            text += "# Another value each time.\nmask:\n"
            for mask in rules.masks {
                let pattern = mask.pattern.map { ", pattern: \(quoted($0.source))" } ?? ""
                let like = mask.template.map { ", like: \(quoted($0.source))" } ?? ""
                text += "  - { \(line(mask.place))\(pattern)\(like) }\n"
            }
        }
        if !rules.bindings.isEmpty {
            text += "# Another value each time, which is repeated.\nbind:\n"
            for binding in rules.bindings {
                text += "  - name: \(quoted(binding.name))\n    places:\n"
                for place in binding.places { text += "      - { \(line(place)) }\n" }
            }
        }
        if !rules.ignored.isEmpty || !rules.ignoredFrames.isEmpty {
            text += "ignore:\n"
            for place in rules.ignored { text += "  - { \(line(place)) }\n" }
            for frames in rules.ignoredFrames { text += "  - \(item(frames))\n" }
        }
        if !rules.unordered.isEmpty {
            text += "# In any order.\nunordered:\n"
            for frames in rules.unordered { text += "  - \(item(frames))\n" }
        }
        return text
    }

    private static func line(_ place: TraceRules.Place) -> String {
        let frames = keys(place.frames)
        return (frames + ["path: \(quoted(place.path.description))"]).joined(separator: ", ")
    }

    /// Frames as an item of a list: `{ from: server, type: push }`.
    static func item(_ frames: TraceRules.Frames) -> String { "{ \(keys(frames).joined(separator: ", ")) }" }

    private static func keys(_ frames: TraceRules.Frames) -> [String] {
        [frames.from.map { "from: \($0.sender)" }, frames.type.map { "type: \(quoted($0))" }].compactMap(\.self)
    }

    /// Unquoted if YAML reads it as text, otherwise in single quotes; with control characters, in double quotes.
    private static func quoted(_ text: String) -> String {
        let isPlain = text.utf8.allSatisfy {
            (0x61...0x7a).contains($0) || (0x41...0x5a).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2e
                || $0 == 0x5f || $0 == 0x2d
        }
        let first = text.utf8.first ?? 0
        if isPlain, (0x61...0x7a).contains(first | 0x20),
            !["true", "false", "yes", "no", "null"].contains(text.lowercased())
        {
            return text
        }
        if text.unicodeScalars.contains(where: { $0.value < 0x20 || $0.value == 0x7f }) {
            return JSONValue.text(text).compactText
        }
        return "'\(text.replacing("'", with: "''"))'"
    }
}
