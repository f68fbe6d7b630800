import Yams

/// How a format file says what bodies are.
///
///     body: text                                   one encoding
///     body: [aes, json]                            a chain, the outermost first: AES, and JSON inside it
///     body: { encodings: [base64, gzip, json] }    the same, spelt out
///     body: { text: { charset: gb18030 } }         an encoding with options
///     body: [{ aes: { mode: cbc, keyName: login, input: base64 } }, json]
///     body:                                        by the frame's type; whatever may stand behind body may stand here
///       byType: { img: hex, txt: text, doc: [gzip, json] }
///       else: text                                 all other types; hex where it is left out
///
/// Encodings: `text` `json` `protobuf` `aes` `base64` `base16` `zlib` `gzip` `deflate` `hex` `raw`; the options of each are
/// said where it is declared. Without `body` bytes are shown in hex.
extension BodyFormat {
    /// The most encodings a chain may have: each may make 16 MiB of its input.
    static let longestChain = 8

    /// What `body` of a mapping says; nil where it has none.
    init?(_ map: YAMLMap) {
        guard let node = map["body"] else { return nil }
        let path = map.path == "the format" ? "body" : "\(map.path).body"
        guard node.mapping?[Node("byType")] != nil || node.mapping?[Node("else")] != nil,
            let body = YAMLMap(node, path: path, faults: map.faults)
        else {
            self.init(BodyChain(node, path: path, faults: map.faults))
            return
        }
        body.allow(["byType", "else"])
        var chains: [String: BodyChain] = [:]
        if let types = body.map("byType") {
            for (key, value) in types.node.mapping ?? [:] {
                guard let type = key.string else { continue }
                chains[type] = BodyChain(value, path: "\(types.path).\(type)", faults: map.faults)
            }
        }
        let otherwise = body["else"].map { BodyChain($0, path: "\(path).else", faults: map.faults) }
        self.init(byType: chains, otherwise ?? BodyChain([]))
    }
}

extension BodyChain {
    fileprivate init(_ node: Node, path: String, faults: FaultList) {
        if node.mapping?[Node("encodings")] != nil, let map = YAMLMap(node, path: path, faults: faults) {
            map.allow(["encodings"])
            if let list = map["encodings"] {
                self.init(BodyChain.encodings(list, path: "\(path).encodings", faults: faults))
                return
            }
        }
        self.init(BodyChain.encodings(node, path: path, faults: faults))
    }

    /// One encoding, or a list of them.
    private static func encodings(_ node: Node, path: String, faults: FaultList) -> [any BodyEncoding] {
        guard let list = node.sequence else { return [encoding(node, path: path, faults: faults)].compactMap { $0 } }
        if list.isEmpty { faults.add("\(path) is an empty list; expected encodings, such as [base64, json]", at: node) }
        if list.count > BodyFormat.longestChain {
            faults.add("\(path) has \(list.count) encodings; \(BodyFormat.longestChain) are allowed", at: node)
        }
        return list.prefix(BodyFormat.longestChain).compactMap { encoding($0, path: path, faults: faults) }
    }

    /// `name`, or `name: { options }`.
    private static func encoding(_ node: Node, path: String, faults: FaultList) -> (any BodyEncoding)? {
        if let name = node.string { return named(name, at: node, path, faults)?.init(nil) }
        guard let mapping = node.mapping, mapping.count == 1, let (key, value) = mapping.first, let name = key.string
        else {
            let found = node.mapping.map { "\($0.count) keys" } ?? node.kindName
            faults.add(
                "\(path) should be an encoding such as json, or one with options: { gzip: { limit: 1 MiB } }; found \(found)",
                at: node)
            return nil
        }
        let type = named(name, at: key, path, faults)
        guard let options = YAMLMap(value, path: "\(path).\(name)", faults: faults) else { return nil }
        return type?.init(options)
    }

    private static func named(
        _ name: String, at node: Node, _ path: String, _ faults: FaultList
    ) -> (any BodyEncoding.Type)? {
        if let type = BodyEncodings.named(name) { return type }
        let nearest = BodyEncodings.names.min { editDistance($0, name) < editDistance($1, name) }
        var hint = "known are " + BodyEncodings.names.joined(separator: ", ")
        if let nearest, editDistance(nearest, name) <= 2 { hint = "did you mean \(nearest)?" }
        faults.add("unknown body encoding \(name) in \(path); \(hint)", at: node)
        return nil
    }
}

extension YAMLMap {
    /// One of a few words.
    func choice<Choice: RawRepresentable & CaseIterable>(
        _ key: String, _ type: Choice.Type
    ) -> Choice? where Choice.RawValue == String {
        guard let text = text(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        faults.add("\(path).\(key) is \(text); expected one of \(known)", at: self[key])
        return nil
    }
}
