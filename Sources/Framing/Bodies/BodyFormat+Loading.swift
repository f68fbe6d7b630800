import YAML

/// How a format file defines bodies.
///
///     body: text                                   one encoding
///     body: [aes, json]                            a chain, the outermost first: AES, and JSON inside it
///     body: { encodings: [base64, gzip, json] }    the same, spelt out
///     body: { text: { charset: gb18030 } }         an encoding with options
///     body: [{ aes: { mode: cbc, keyName: login, input: base64 } }, json]
///     body:                                        by the frame's type; each value may be anything that body may be
///       byType: { img: hex, txt: text, doc: [gzip, json] }
///       else: text                                 all other types; hex if omitted
///     body:                                        by a condition on type and header; the first that holds
///       cases: [{ when: zipped == 1, as: [zlib, json] }]
///       else: json
///
/// The encodings are those of `BodyEncodings`; each declares its options. Without `body`, bytes are shown in hex.
extension BodyFormat {
    /// A body as a value of a format file.
    static let value: SharedValue = SharedValue(
        "bodies", "a [body](#body-how-it-is-encoded)", "how bodies are encoded; `hex` by default",
        .any([.shared(BodyChain.value), .section(keys)]))

    static let keys: KeySection = KeySection(
        "body", "encodings that depend on the frame", needs: [.any([["byType"], ["cases"], ["else"]])],
        [
            FormatKey("byType", .mapping(.shared(BodyChain.value)), "the encodings by the frame's type"),
            FormatKey(
                "cases", .list(.section(caseKeys)), "the encodings by a condition; tried before `byType`, in order"),
            FormatKey("else", .shared(BodyChain.value), "the encodings of all other frames, `hex` if nothing is said"),
        ])

    private static let caseKeys: KeySection = KeySection(
        "body.cases", "the encodings of frames that match a condition",
        [
            FormatKey("when", .condition, "a condition on the frame's type and its header's fields", required: true),
            FormatKey("as", .shared(BodyChain.value), "the encodings", required: true),
        ])

    /// The most encodings a chain may have: each may expand its input to 16 MiB.
    static let longestChain = 8

    /// The value of a mapping's `body` key; nil if it has none.
    init?(_ map: YAMLMap) {
        guard let node = map["body"] else { return nil }
        let path = map.path == "the format" ? "body" : "\(map.path).body"
        guard node.member("byType") != nil || node.member("else") != nil || node.member("cases") != nil,
            let body = YAMLMap(node, path: path, context: map.context)?.reading(Self.keys)
        else {
            self.init(BodyChain(node, path: path, context: map.context))
            return
        }
        let cases = (body.maps("cases", Self.caseKeys) ?? []).compactMap { map -> BodyCase? in
            guard let condition = FormatLoader.headCondition(map, "when") else { return nil }
            guard let node = map["as"] else {
                map.fault("\(map.path) lacks as: the encodings")
                return nil
            }
            return BodyCase(condition: condition, chain: BodyChain(node, path: "\(map.path).as", context: map.context))
        }
        var chains: [String: BodyChain] = [:]
        if let types = body.map("byType") {
            for (key, value) in types.node.mapping ?? [:] {
                guard let type = key.string else { continue }
                chains[type] = BodyChain(value, path: "\(types.path).\(type)", context: map.context)
            }
        }
        if chains.isEmpty, body["byType"] != nil {
            map.context.warn("\(path).byType names no types", at: body["byType"])
        }
        let otherwise = body["else"].map { BodyChain($0, path: "\(path).else", context: map.context) }
        self.init(byType: chains, cases: cases, otherwise ?? BodyChain([]))
    }
}

extension BodyChain {
    /// Encodings as a value of a format file.
    static let value: SharedValue = SharedValue(
        "encodings", "[encodings](#body-how-it-is-encoded)", "an encoding, or several, the outermost first",
        .any([list, .section(keys)]))

    private static let list = KeyValue.any([
        .shared(BodyEncodings.value), .list(.shared(BodyEncodings.value), least: 1, most: BodyFormat.longestChain),
    ])

    private static let keys: KeySection = KeySection(
        "body.encodings", "a chain of encodings",
        [FormatKey("encodings", list, "an encoding, or a list of at most eight, the outermost first", required: true)])

    init(_ node: Node, path: String, context: LoadContext) {
        if node.member("encodings") != nil, let map = YAMLMap(node, path: path, context: context)?.reading(Self.keys) {
            if let list = map["encodings"] {
                self.init(BodyChain.encodings(list, path: "\(path).encodings", context: context))
                return
            }
        }
        self.init(BodyChain.encodings(node, path: path, context: context))
    }

    /// One encoding, or a list of them.
    private static func encodings(_ node: Node, path: String, context: LoadContext) -> [any BodyEncoding] {
        guard let list = node.sequence else { return [encoding(node, path: path, context: context)].compactMap { $0 } }
        if list.isEmpty {
            context.add("\(path) is an empty list; expected encodings, such as [base64, json]", at: node)
        }
        if list.count > BodyFormat.longestChain {
            context.add("\(path) has \(list.count) encodings; \(BodyFormat.longestChain) are allowed", at: node)
        }
        let encodings = list.prefix(BodyFormat.longestChain).map { encoding($0, path: path, context: context) }
        // What it says is not what the next one could read.
        for (index, encoding) in encodings.dropLast().enumerated() {
            guard let encoding, encoding.role.contains(.meaning) else { continue }
            context.add(
                "\(path) has an encoding after \(Swift.type(of: encoding).name), which is what the bytes mean;"
                    + " encodings are listed from the outermost on: [gzip, json] is JSON, compressed", at: list[index])
        }
        return encodings.compactMap { $0 }
    }

    /// `name`, or `name: { options }`.
    private static func encoding(_ node: Node, path: String, context: LoadContext) -> (any BodyEncoding)? {
        if let name = node.string {
            let type = named(name, at: node, path, context)
            if type?.needsOptions == true {
                context.add("\(path) is \(name), which says nothing without options: { \(name): … }", at: node)
            }
            return type?.init(nil)
        }
        guard let mapping = node.mapping, mapping.count == 1, let (key, value) = mapping.first, let name = key.string
        else {
            let found = node.mapping.map { "\($0.count) keys" } ?? node.kindName
            context.add(
                "\(path) should be an encoding such as json, or one with options: { gzip: { limit: 1 MiB } }; found \(found)",
                at: node)
            return nil
        }
        let type = named(name, at: key, path, context)
        if type == FieldsBody.self, value.mapping == nil {
            // The list, or the type, is all there is to say.
            let options = Node(.mapping([Node("of"): value]), mark: node.mark)
            let map = YAMLMap(options, path: "\(path).\(name)", context: context)
            return (map?.reading(FieldsBody.keys)).map { FieldsBody($0) }
        }
        guard let options = YAMLMap(value, path: "\(path).\(name)", context: context) else { return nil }
        return type.map { $0.init(options.reading($0.keys)) }
    }

    private static func named(
        _ name: String, at node: Node, _ path: String, _ context: LoadContext
    ) -> (any BodyEncoding.Type)? {
        if let type = BodyEncodings.named(name) { return type }
        let hint = LoadContext.hint(name, BodyEncodings.names)
        context.add("unknown body encoding \(name) in \(path); \(hint)", at: node)
        return nil
    }
}
