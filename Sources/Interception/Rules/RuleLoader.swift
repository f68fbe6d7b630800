import Expressions
import Framing
import Streams

/// Reads one rule from its mapping; faults are reported in the mapping's context.
struct RuleLoader {
    /// The format of the frames, if it is known.
    let format: Format?
    /// The rule's number, from 1.
    let number: Int
    /// Whether it is read again once the format is known.
    var isProvisional = false

    private static let common = ["name", "from", "connection", "window"]
    private static let selecting = ["when", "after", "nth", "once", "every", "times", "probability"]

    /// The actions for frames, with the keys that each has besides its own.
    private static let frames = [
        "drop": [], "delay": ["jitter", "overtaken"], "duplicate": ["copies"], "swap": [],
        "hold": ["until", "for", "pass"], "replace": ["raw"], "corrupt": ["bits"], "truncate": ["end"],
        "inject": ["place", "to"], "segment": ["within"],
    ]
    /// The actions for all bytes.
    private static let links = [
        "latency": ["jitter"], "rate": [], "stall": ["bytes"], "limit": ["end"], "reset": [], "refuse": [],
        "half-close": [], "blackhole": [],
    ]

    /// The rule; nil with a fault.
    func rule(_ map: YAMLMap) -> Rule? {
        let names = (Array(Self.frames.keys) + Array(Self.links.keys)).sorted()
        let given = names.filter { map[$0] != nil }
        guard given.count == 1, let name = given.first else {
            if given.isEmpty {
                map.allow(names + Self.common + Self.selecting)
                map.fault("\(map.path) has no action; expected one of \(names.joined(separator: ", "))")
            } else {
                map.fault("\(map.path) has several actions (\(given.joined(separator: ", "))); expected one")
            }
            return nil
        }
        let action: Rule.Action?
        var selection = FrameSelection()
        if let keys = Self.frames[name] {
            map.allow([name] + keys + Self.common + Self.selecting)
            selection = self.selection(map, of: name)
            action = frameAction(name, map).map(Rule.Action.frame)
        } else {
            map.allow([name] + (Self.links[name] ?? []) + Self.common)
            action = linkAction(name, map).map(Rule.Action.link)
        }
        guard let action else { return nil }
        var rule = Rule(name: map.text("name") ?? "\(name)-\(number)", action: action)
        rule.selection = selection
        rule.from = side(map, "from")
        rule.connection = map.integer("connection", in: 1...Int.max)
        rule.window = window(map)
        return rule
    }

    // MARK: Which frames

    private func selection(_ map: YAMLMap, of action: String) -> FrameSelection {
        var selection = FrameSelection()
        selection.after = condition(map, "after")
        selection.when = condition(map, "when")
        // Without a value of its own, the action's value is the condition.
        if ["drop", "duplicate", "swap", "hold"].contains(action), map.text(action) != "all" {
            if map["when"] != nil {
                map.fault("\(map.path) has two conditions; with when, \(action) should be all", at: action)
            }
            selection.when = condition(map, action)
        }
        selection.nth = map.integer("nth", in: 1...Int.max)
        selection.every = map.integer("every", in: 1...Int.max)
        selection.times = map.integer("times", in: 1...Int.max)
        if map.boolean("once") == true { selection.times = 1 }
        if let text = map.text("probability") {
            let digits = text.filter { $0 != " " }
            let number = digits.hasSuffix("%") ? Double(digits.dropLast()).map { $0 / 100 } : Double(digits)
            if let number, (0...1).contains(number) {
                selection.probability = number
            } else {
                map.fault("probability is \(text); expected a number from 0 to 1, or per cent", at: "probability")
            }
        }
        return selection
    }

    /// A condition on frames; nil if there is none, or with a fault.
    func condition(_ map: YAMLMap, _ key: String) -> Expression? {
        guard let text = map.text(key) else { return nil }
        do throws(ExpressionError) {
            return try Expression(parsing: text) { path in
                if path == ["nth"] { return nil }
                return FrameValues.complaint(about: path)
                    ?? format.flatMap { FrameValues.complaint(about: path, in: [$0]) }
            }
        } catch {
            map.context.add("\(key): \(error.message)", at: map[key], columns: error.column - 1)
            return nil
        }
    }

    func side(_ map: YAMLMap, _ key: String) -> Direction? {
        guard let text = map.text(key) else { return nil }
        if let direction = Direction.allCases.first(where: { $0.sender == text }) { return direction }
        map.fault("\(key) is \(text); expected client or server", at: key)
        return nil
    }

    /// `5 s .. 10 s`, or `5 s ..`
    private func window(_ map: YAMLMap) -> Range<Interval>? {
        guard let text = map.text("window") else { return nil }
        let ends = text.split(separator: "..", omittingEmptySubsequences: false).map {
            $0.filter { $0 != " " }.isEmpty ? nil : Optional(interval(String($0)))
        }
        let (start, end) = (ends[0] ?? .some(.seconds(0)), ends.count > 1 ? ends[1] ?? .some(.maximum) : nil)
        if ends.count == 2, let start, let end, start < end { return start..<end }
        map.fault("window is \(text); expected two times since the connection's opening: 5 s .. 10 s", at: "window")
        return nil
    }

    private func interval(_ text: String) -> Interval? {
        let text = text.filter { $0 != " " }
        if text == "0" { return .seconds(0) }
        let digits = text.prefix { $0.isNumber || $0 == "." }
        guard let factor = ["ms": 0.001, "s": 1, "min": 60, "h": 3600][text.dropFirst(digits.count)],
            let number = Double(digits)
        else { return nil }
        return .seconds(number * factor)
    }
}

extension Interval {
    /// Longer than any connection lasts.
    static let maximum = Interval(nanoseconds: .max)
}
