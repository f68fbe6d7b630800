import Expressions
import Framing
import Streams
import YAML

/// Reads what a rule does.
extension RuleLoader {
    func frameAction(_ name: String, _ map: YAMLMap) -> FrameAction? {
        switch name {
        case "drop": return .drop
        case "delay":
            guard let amount = map.interval("delay") else { return nil }
            return .delay(
                by: amount, jitter: map.interval("jitter") ?? .seconds(0),
                isOvertaken: map.boolean("overtaken") ?? false)
        case "duplicate": return .duplicate(copies: map.integer("copies", in: 2...1_000) ?? 2)
        case "swap": return .swap
        case "hold":
            let until = condition(map, "until")
            let passing = map.text("pass") == "heartbeats" ? Self.heartbeats : condition(map, "pass")
            return .hold(FrameAction.Hold(until: until, longest: map.interval("for"), passing: passing))
        case "replace": return replacement(map).map(FrameAction.replace)
        case "corrupt": return corruption(map).map(FrameAction.corrupt)
        case "truncate":
            guard let count = map.integer("truncate", in: 0...Int(Int32.max)) else { return nil }
            return .truncate(at: count, ending(map) ?? .reset)
        case "segment": return segmentation(map).map(FrameAction.segment)
        default: return injection(map).map(FrameAction.inject)
        }
    }

    func linkAction(_ name: String, _ map: YAMLMap) -> LinkAction? {
        switch name {
        case "latency":
            return map.interval("latency").map { .latency($0, jitter: map.interval("jitter") ?? .seconds(0)) }
        case "rate": return rate(map)
        case "stall": return map.interval("stall").map { .stall($0, after: start(map, "bytes")) }
        case "limit": return map["limit"].map { _ in .limit(start(map, "limit"), ending(map) ?? .fin) }
        case "reset": return .reset(after: start(map, "reset"))
        case "refuse": return .refuse
        case "half-close": return .halfClose(after: start(map, "half-close"))
        default: return .blackhole(after: start(map, "blackhole"))
        }
    }

    /// A heartbeat, as a condition.
    private static let heartbeats = try? Expression(parsing: "heartbeat")

    /// After how many bytes something happens: a count of bytes, `0`, or `start`.
    private func start(_ map: YAMLMap, _ key: String) -> Int {
        guard let text = map.text(key), !["", "0", "start"].contains(text) else { return 0 }
        return map.byteCount(key, default: 0)
    }

    private func rate(_ map: YAMLMap) -> LinkAction? {
        guard let text = map.text("rate") else { return nil }
        let units = ["B/s": 1, "KiB/s": 1 << 10, "MiB/s": 1 << 20, "kB/s": 1_000, "MB/s": 1_000_000]
        let digits = text.prefix { $0.isNumber || $0 == "." }
        if let number = Double(digits), let factor = units[text.dropFirst(digits.count).filter { $0 != " " }],
            number * Double(factor) >= 1, number < 1e9
        {
            return .rate(bytesPerSecond: Int(number * Double(factor)))
        }
        map.fault("rate is \(text); expected bytes a second, such as 64 KiB/s", at: "rate")
        return nil
    }

    private func ending(_ map: YAMLMap) -> Ending? {
        guard let text = map.text("end") else { return nil }
        switch text {
        case "fin": return .fin
        case "reset": return .reset
        default:
            map.fault("end is \(text); expected fin or reset", at: "end")
            return nil
        }
    }

    private func corruption(_ map: YAMLMap) -> FrameAction.Corruption? {
        guard let text = map.text("corrupt") else { return nil }
        let bits = map.integer("bits", in: 1...1_000) ?? 1
        let places: [String: FrameAction.Corruption.Place] = [
            "anywhere": .anywhere, "head": .head, "body": .body, "checksum": .checksum,
        ]
        if let place = places[text] { return FrameAction.Corruption(place: place, bits: bits) }
        if text.hasPrefix("fields.") {
            let name = String(text.dropFirst("fields.".count))
            if let format, let fault = FrameValues.complaint(about: ["fields", name], in: [format]) {
                map.fault(fault, at: "corrupt")
                return nil
            }
            return FrameAction.Corruption(place: .field(name), bits: bits)
        }
        map.fault(
            "corrupt is \(text); expected anywhere, head, body, checksum, or fields.NAME", at: "corrupt")
        return nil
    }

    /// `every-byte`, `fields`, `random`, `random 3`, `at 3 11`, `merge 5`, `merge-and-half 5`
    private func segmentation(_ map: YAMLMap) -> Segmentation? {
        guard let text = map.text("segment") else { return nil }
        let words = text.split(whereSeparator: { " ,[]".contains($0) })
        let numbers = words.dropFirst().compactMap { Int($0) }
        let within = map.interval("within") ?? .milliseconds(50)
        let isWhole = numbers.count == words.count - 1
        switch (words.first, numbers.count) {
        case ("every-byte", 0) where isWhole: return .everyByte
        case ("fields", 0) where isWhole: return .fields
        case ("random", 0) where isWhole: return .random(cuts: 3)
        case ("random", 1) where isWhole && (1...1_000).contains(numbers[0]): return .random(cuts: numbers[0])
        case ("at", 1...) where isWhole: return .at(numbers)
        case ("merge", 1) where isWhole && (2...1_000).contains(numbers[0]): return .merge(numbers[0], within: within)
        case ("merge-and-half", 1) where isWhole && (1...1_000).contains(numbers[0]):
            return .mergeAndHalf(numbers[0], within: within)
        default:
            map.fault(
                "segment is \(text); expected every-byte, fields, random 3, at 3 11, merge 5, or merge-and-half 5",
                at: "segment")
            return nil
        }
    }

    // MARK: Frames

    private func replacement(_ map: YAMLMap) -> FrameAction.Replacement? {
        guard let parts = map.map("replace") else { return nil }
        parts.allow(["fields", "body"])
        guard parts["fields"] != nil || parts["body"] != nil, let line = line(parts) else {
            if parts["fields"] == nil, parts["body"] == nil { parts.fault("replace has neither fields nor body") }
            return nil
        }
        var replacement = FrameAction.Replacement()
        replacement.fields = line.fields
        if parts["body"] != nil { replacement.body = line.body }
        replacement.isRaw = map.boolean("raw") ?? false
        for field in line.fields {
            if let format, let fault = FrameValues.complaint(about: ["fields", field.name], in: [format]) {
                parts.fault(fault, at: "fields")
                return nil
            }
        }
        return replacement
    }

    private func injection(_ map: YAMLMap) -> FrameAction.Injection? {
        var (from, isBefore) = (Direction?.none, false)
        if let place = map.text("place") {
            isBefore = place == "before"
            if !["before", "after"].contains(place) {
                map.fault("place is \(place); expected before or after", at: "place")
            }
        }
        if let to = side(map, "to") { from = to.opposite }
        if let text = map["inject"]?.string {
            if text.hasPrefix("0x"), let bytes = FieldValue.text(String(text.dropFirst(2))).rawBytes, !bytes.isEmpty {
                return FrameAction.Injection(bytes: bytes, from: from, isBefore: isBefore)
            }
            map.fault(
                "inject is \(text); expected a frame such as { fields: { type: txt } }, or 0x and hex", at: "inject")
            return nil
        }
        guard let parts = map.map("inject") else { return nil }
        parts.allow(["from", "type", "layout", "fields", "body"])
        guard let line = line(parts) else { return nil }
        guard let format else {
            if isProvisional { return FrameAction.Injection(bytes: [], from: from, isBefore: isBefore) }
            map.fault("inject needs the format: --format NAME", at: "inject")
            return nil
        }
        // Without `to`, it is sent by the sender of the frame that the rule applies to.
        guard let sender = from ?? line.from ?? side(map, "from") else {
            map.fault("inject does not specify who sends the frame; expected from, or to, with client or server")
            return nil
        }
        do {
            let bytes = try format.encode(line, from: sender)
            return FrameAction.Injection(bytes: bytes, from: sender, isBefore: isBefore)
        } catch {
            map.fault("inject: \(error)", at: "inject")
            return nil
        }
    }

    private func line(_ parts: YAMLMap) -> FrameLine? {
        var text: [UInt8] = []
        Self.write(parts.node, into: &text)
        do {
            if let line = try FrameLine(parsing: text.span.bytes) { return line }
            parts.fault("\(parts.path) is no frame")
        } catch {
            parts.fault("\(parts.path): \(error)")
        }
        return nil
    }

    /// A number, a truth value or null as JSON; nil if the text is none. Numbers may be hexadecimal.
    private static func json(_ text: String) -> String? {
        if ["true", "false", "null"].contains(text) { return text }
        if text.hasPrefix("0x") { return UInt64(text.dropFirst(2), radix: 16).map { "\($0)" } }
        if let number = Int64(text) { return "\(number)" }
        if let number = UInt64(text) { return "\(number)" }
        guard text.first?.isNumber == true || text.first == "-", let number = Double(text), number.isFinite else {
            return nil
        }
        return "\(number)"
    }

    /// A node as JSON: what is not in quotes may be a number, a truth value or null, except in `text` and `hex`.
    private static func write(_ node: Node, isText: Bool = false, into text: inout [UInt8]) {
        switch node.content {
        case .mapping(let mapping):
            text.append(UInt8(ascii: "{"))
            for (index, pair) in mapping.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                let key = pair.key.string ?? ""
                JSONOutput.string(key, into: &text)
                text.append(UInt8(ascii: ":"))
                write(pair.value, isText: key == "text" || key == "hex", into: &text)
            }
            text.append(UInt8(ascii: "}"))
        case .sequence(let items):
            text.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                write(item, into: &text)
            }
            text.append(UInt8(ascii: "]"))
        case .scalar(let string, let isPlain):
            if isPlain, !isText, let value = Self.json(string) {
                text += Array(value.utf8)
            } else {
                JSONOutput.string(string, into: &text)
            }
        }
    }
}
