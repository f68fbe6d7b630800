import Expressions
import Streams
import Yams

/// Every framing rule, by its name in format files. A new rule is one line here.
enum FramingRules {
    /// A rule, and the head it reads itself, if it has one.
    typealias Built = (rule: any FramingRule, head: (any Head)?)

    /// What a rule is built from: its section, the header's fields, the bytes of the trailer.
    typealias Builder = @Sendable (_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> Built?

    private static let builders: [(name: String, build: Builder)] = [
        (HeadAndBody.name, { HeadAndBody.build($0, $1, $2) }),
        (LengthField.name, { LengthField.build($0, $1, $2) }),
        (Delimiter.name, { Delimiter.build($0, $1, $2) }),
        (FixedSize.name, { FixedSize.build($0, $1, $2) }),
        (Marker.name, { Marker.build($0, $1, $2) }),
        (Escaped.name, { Escaped.build($0, $1, $2) }),
        (JSONSequence.name, { JSONSequence.build($0, $1, $2) }),
        (WholeChunk.name, { WholeChunk.build($0, $1, $2) }),
        (
            Structured.name,
            { section, _, _ in
                section.fault("the rule fields needs a header", at: "rule")
                return nil
            }
        ),
    ]

    /// The default longest frame, in bytes.
    static let standardLimit = 16 << 20

    /// The rule of a `framing:` section; nil, with faults reported, if it cannot be built.
    static func build(_ section: YAMLMap, head: BinaryHead?, trailer: Int) -> Built? {
        guard let name = section.requiredText("rule") else { return nil }
        guard let builder = builders.first(where: { $0.name == name }) else {
            section.fault(
                "there is no framing rule \(name); \(LoadContext.hint(name, builders.map(\.name)))", at: "rule")
            return nil
        }
        return builder.build(section, head, trailer)
    }
}

extension YAMLMap {
    /// The limit of a frame.
    fileprivate var limit: Int { byteCount("limit", default: FramingRules.standardLimit) }

    /// Bytes written as text, or as 0x and hex digits; not empty.
    fileprivate func bytes(_ key: String) -> [UInt8]? {
        guard let text = requiredText(key) else { return nil }
        if text.isEmpty { fault("\(key) is empty; expected the bytes it stands for", at: key) }
        return text.isEmpty ? nil : [UInt8](written: text)
    }

    /// One byte, as a number.
    fileprivate func byte(_ key: String) -> UInt8? {
        integer(key, in: 0...255).map(UInt8.init)
    }

    fileprivate func refuseHeader(_ head: BinaryHead?, _ trailer: Int, _ rule: String) -> Bool {
        guard head != nil || trailer > 0 else { return false }
        fault("the rule \(rule) has no header or trailer", at: "rule")
        return true
    }
}

extension HeadAndBody {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "head", "ends", "size", "limit", "headLimit"])
        if let kind = section.requiredText("head"), kind != "json" {
            section.fault("head is \(kind); \(name) knows json", at: "head")
        }
        let size = section.requiredText("size")
        let ends = section.bytes("ends")
        if section.refuseHeader(head, trailer, name) { return nil }
        let limit = section.limit
        let headLimit = section.byteCount("headLimit", default: 64 << 10)
        guard let size, let ends else { return nil }
        let head = JSONHead(sizeField: size)
        return (HeadAndBody(head: head, delimiter: ends, sizeField: size, limit: limit, headLimit: headLimit), head)
    }
}

extension LengthField {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "field", "counts", "adjust", "ends", "negative", "limit"])
        let name = section.requiredText("field")
        let counts = section.choice("counts", Counts.self) ?? .body
        let adjustment = section.integer("adjust", in: -65_536...65_536) ?? 0
        let ends = section["ends"] == nil ? [] : section.bytes("ends") ?? []
        if let word = section.text("negative"), word != "empty" {
            section.fault("negative is \(word); expected empty (a negative length stands for no body)", at: "negative")
        }
        let limit = section.limit
        guard let name else { return nil }
        guard let head, let field = head.fields.firstIndex(where: { $0.name == name }) else {
            let known = head?.fields.map(\.name) ?? []
            let hint = known.isEmpty ? "the format has no header" : LoadContext.hint(name, known)
            section.fault("there is no field \(name) in the header; \(hint)", at: "field")
            return nil
        }
        switch head.fields[field].kind {
        case .unsigned, .signed, .varint, .decimal, .numeral: break
        default:
            section.fault("the field \(name) is no whole number, so it cannot be a length", at: "field")
            return nil
        }
        return (
            LengthField(
                head: head, field: field, counts: counts, adjustment: adjustment, trailer: trailer, ends: ends,
                negativeIsEmpty: section["negative"] != nil, limit: limit), nil
        )
    }
}

extension Delimiter {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "end", "limit"])
        if section["end"] == nil { section.fault("the rule delimiter needs end, such as \"\\n\"") }
        let ends = section.texts("end").map { [UInt8](written: $0.text) }
        let limit = section.limit
        guard !ends.isEmpty else { return nil }
        guard !ends.contains([]) else {
            section.fault("end is empty; expected the bytes that end a frame", at: "end")
            return nil
        }
        return (Delimiter(head: head, ends: ends, trailer: trailer, limit: limit), nil)
    }
}

extension FixedSize {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "size"])
        if section["size"] == nil { section.fault("the rule fixed needs a size in bytes") }
        guard let size = section.integer("size", in: 1...FramingRules.standardLimit) else { return nil }
        let least = (head?.fixedLength ?? 0) + trailer
        guard size >= least, head == nil || head?.fixedLength != nil else {
            section.fault("size is \(size); header and trailer alone have \(least) bytes", at: "size")
            return nil
        }
        return (FixedSize(size: size, head: head, trailer: trailer), nil)
    }
}

extension Marker {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "start", "idle", "limit"])
        let start = section.bytes("start")
        let idle = section.text("idle") == "none" ? nil : section.interval("idle") ?? .milliseconds(200)
        let limit = section.limit
        if section.refuseHeader(head, trailer, name) { return nil }
        return start.map { (Marker(start: $0, idle: idle, limit: limit), nil) }
    }
}

extension Escaped {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "start", "end", "escape", "map", "xor", "shared", "limit"])
        for key in ["end", "escape"] where section[key] == nil {
            section.fault("the rule escaped needs \(key), a byte such as 0x7e")
        }
        var meanings: [UInt8: UInt8] = [:]
        for (key, value) in section.map("map")?.node.mapping ?? [:] {
            let numbers = [key, value].map { $0.string.flatMap(Int.init(number:)).flatMap { UInt8(exactly: $0) } }
            guard let code = numbers[0], let meaning = numbers[1] else {
                section.context.add("map should be byte: byte, such as 0x02: 0x7e", at: key)
                continue
            }
            meanings[code] = meaning
        }
        let rule = Escaped(
            start: section.byte("start"), end: section.byte("end") ?? 0, escape: section.byte("escape") ?? 0,
            meanings: meanings, mask: section.byte("xor") ?? 0x20, isShared: section.boolean("shared") ?? false,
            head: head, trailer: trailer, limit: section.limit)
        return section["end"] == nil || section["escape"] == nil ? nil : (rule, nil)
    }
}

extension JSONSequence {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "limit"])
        if section.refuseHeader(head, trailer, name) { return nil }
        return (JSONSequence(limit: section.limit), nil)
    }
}

extension WholeChunk {
    fileprivate static func build(_ section: YAMLMap, _ head: BinaryHead?, _ trailer: Int) -> FramingRules.Built? {
        section.allow(["rule", "repeats"])
        if section.refuseHeader(head, trailer, name) { return nil }
        guard let source = section.text("repeats") else { return (WholeChunk(repeats: nil), nil) }
        do throws(ExpressionError) {
            return (WholeChunk(repeats: try Pattern(parsing: source)), nil)
        } catch {
            section.context.add("repeats: \(error.message)", at: section["repeats"], columns: error.column - 1)
            return nil
        }
    }
}
