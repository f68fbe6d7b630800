import Expressions
import Streams
import Yams

/// Reads format files: YAML in, a checked `Format` out.
public enum FormatLoader {
    /// The largest format file, in bytes.
    static let largestFile = 1 << 20

    /// The format that a file describes.
    ///
    /// - Parameters:
    ///   - yaml: the file's text.
    ///   - file: its name, for errors.
    public static func load(_ yaml: String, file: String) throws(FormatFileError) -> Format {
        let faults = FaultList()
        let format = read(yaml, faults: faults)
        guard let format, faults.faults.isEmpty else {
            let sorted = faults.faults.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
            throw FormatFileError(file: file, faults: sorted)
        }
        return format
    }

    private static func read(_ yaml: String, faults: FaultList) -> Format? {
        guard yaml.utf8.count <= largestFile else {
            faults.add("the file has \(yaml.utf8.count) bytes, the limit is \(largestFile)", at: nil)
            return nil
        }
        guard let top = compose(yaml, faults: faults).flatMap({ YAMLMap($0, path: "the format", faults: faults) })
        else { return nil }
        top.allow([
            "format", "summary", "ports", "framing", "client", "server", "frame", "body", "detect", "heartbeat",
        ])
        let client = direction(top, "client")
        let server = direction(top, "server")
        guard let name = top.requiredText("format"), let client, let server else { return nil }
        if name.isEmpty || !name.utf8.allSatisfy(isNameByte) {
            faults.add("the format's name \(name) should have lower-case letters, digits and - only", at: top["format"])
        }
        return Format(
            name: name, summary: top.text("summary") ?? "", ports: ports(top),
            directions: PerDirection(fromClient: client, fromServer: server), detection: detection(top),
            heartbeat: heartbeat(top))
    }

    private static func compose(_ yaml: String, faults: FaultList) -> Node? {
        do {
            if let node = try Yams.compose(yaml: yaml) { return node }
            faults.add("the file is empty; expected a format, such as `frametap formats show im-json` prints", at: nil)
        } catch let error as YamlError {
            let (place, message) = describe(error)
            faults.add(message, mark: place)
        } catch {
            faults.add("\(error)", at: nil)
        }
        return nil
    }

    private static func describe(_ error: YamlError) -> (Mark?, String) {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            return (mark, "not YAML: \(problem)")
        case .duplicatedKeysInMapping(let keys, let context):
            return (context.mark, "key \(keys.joined(separator: ", ")) appears twice")
        default: return (nil, "not YAML: \(error)")
        }
    }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "-") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
    }

    private static func ports(_ top: YAMLMap) -> [UInt16] {
        top.texts("ports").compactMap { text, node in
            if let port = UInt16(text), port > 0 { return port }
            top.faults.add("port \(text) should be from 1 to 65535", at: node)
            return nil
        }
    }

    /// One direction: what its own section says, else what the top says for both.
    private static func direction(_ top: YAMLMap, _ side: String) -> DirectionFormat? {
        let own = top.map(side)
        own?.allow(["framing", "frame", "body"])
        func section(_ key: String) -> YAMLMap? {
            if let own, own[key] != nil { return own.map(key) }
            return top.map(key)
        }
        guard let framing = section("framing") else {
            if top["framing"] == nil {
                top.faults.add("\(top.path) lacks framing for the \(side)'s frames", at: top.node)
            }
            return nil
        }
        guard let built = FramingRules.build(framing) else { return nil }
        let frame = section("frame")
        frame?.allow(["type", "from", "to"])
        return DirectionFormat(
            rule: built.rule, head: built.head, typeField: frame?.text("type"), fromField: frame?.text("from"),
            toField: frame?.text("to"), body: own.flatMap(BodyFormat.init) ?? BodyFormat(top) ?? BodyFormat())
    }

    private static func detection(_ top: YAMLMap) -> Format.Detection? {
        guard let map = top.map("detect") else { return nil }
        map.allow(["evidence", "frames"])
        guard let evidence = map.requiredText("evidence") else { return nil }
        var frames = 1
        if let text = map.text("frames") {
            if let number = Int(text), (1...1_000).contains(number) {
                frames = number
            } else {
                map.faults.add("frames is \(text); expected 1 to 1000", at: map["frames"])
            }
        }
        return Format.Detection(frames: frames, evidence: evidence)
    }

    private static func heartbeat(_ top: YAMLMap) -> HeartbeatContract? {
        guard let map = top.map("heartbeat") else { return nil }
        map.allow(["when", "from", "every", "gap"])
        let from = map.requiredText("from").flatMap { side -> Direction? in
            if let direction = Direction.allCases.first(where: { $0.sender == side }) { return direction }
            map.faults.add("heartbeat.from is \(side); expected client or server", at: map["from"])
            return nil
        }
        if map["every"] == nil { map.faults.add("heartbeat lacks every", at: map.node) }
        let every = map.interval("every")
        let gap = map.interval("gap")
        guard let condition = condition(map, "when"), let from, let every else { return nil }
        return HeartbeatContract(
            condition: condition, from: from, every: every, gap: gap ?? Interval(nanoseconds: 3 * every.nanoseconds))
    }

    private static func condition(_ map: YAMLMap, _ key: String) -> Expression? {
        guard let source = map.requiredText(key) else { return nil }
        do throws(ExpressionError) {
            return try Expression(parsing: source)
        } catch {
            map.faults.add("\(map.path).\(key): \(error.message)", at: map[key], columns: error.column - 1)
            return nil
        }
    }
}
