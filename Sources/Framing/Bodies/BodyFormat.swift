import Expressions
import Streams

/// How the bodies of one direction's frames are decoded, by frame type.
package struct BodyFormat: Sendable {
    /// The chains of the frame types that are named.
    var byType: [String: BodyChain]
    /// The chains of frames that fulfil a condition, which come first.
    var cases: [BodyCase]
    /// The chain of all others.
    var otherwise: BodyChain

    /// Bodies that all have the same encodings; without any they are opaque.
    init(
        byType: [String: BodyChain] = [:], cases: [BodyCase] = [], _ otherwise: BodyChain = BodyChain([])
    ) {
        self.byType = byType
        self.cases = cases
        self.otherwise = otherwise
        let chains = [otherwise] + Array(byType.values) + cases.map(\.chain)
        hasNames = chains.contains { $0.structure?.hasNames ?? false }
        keyFields = Set(chains.flatMap(\.keyFields)).sorted()
        isPlain = otherwise.isPlain && byType.values.allSatisfy(\.isPlain) && cases.isEmpty
    }

    /// Whether bodies are plain text or bytes: they cost nothing to decode, and can have no faults.
    package let isPlain: Bool

    /// Whether values of structured bodies have names.
    let hasNames: Bool

    /// The header's fields that are keys of bodies.
    let keyFields: [String]

    /// Whether all bodies are shown as bytes in hex, so that no condition can refer to their content.
    var isOpaque: Bool { chains.allSatisfy(\.isOpaque) }

    /// All chains.
    var chains: [BodyChain] { [otherwise] + byType.values + cases.map(\.chain) }

    /// Decodes a body.
    ///
    /// - Parameters:
    ///   - type: the frame's type, evaluated only if needed.
    ///   - head: the header, evaluated only if needed.
    package func decode(
        _ body: RawSpan, type: @autoclosure () -> String?, head: @autoclosure () -> BodyHead = BodyHead()
    ) -> DecodedBody {
        if isPlain, byType.isEmpty { return otherwise.decode(body, type: nil) }
        let type = type()
        if !cases.isEmpty {
            let head = head()
            let chain = chain(for: type, head: head.fields)
            return chain.decode(body, type: type, head: head)
        }
        let chain = chain(for: type)
        return chain.decode(body, type: type, head: chain.readsHead ? head() : BodyHead())
    }

    /// Encodes `content`.
    ///
    /// - Parameter length: how many bytes the body had; nil if that is not known.
    package func encode(
        _ content: BodyContent, type: String?, head: BodyHead = BodyHead(), length: Int? = nil
    ) throws(EncodingError) -> [UInt8] {
        try chain(for: type, head: head.fields).encode(content, type: type, head: head, length: length)
    }

    /// A body that means the same under another header, whose keys differ; nil if it stays as it is.
    func masked(
        _ body: RawSpan, type: String?, from old: BodyHead, to new: BodyHead
    ) throws(EncodingError) -> [UInt8]? {
        let before = chain(for: type, head: old.fields).masks(old)
        let after = chain(for: type, head: new.fields).masks(new)
        guard before != after, body.byteCount > 0 else { return nil }
        guard before.keys.allSatisfy({ $0 == 0 }), after.keys.allSatisfy({ $0 == 0 }) else {
            throw EncodingError(
                "the key of the body, which is inside another encoding, would be another one: give the body, too")
        }
        return XORBody.masked(XORBody.masked(body, before[0] ?? []).span.bytes, after[0] ?? [])
    }

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String] {
        chains.flatMap { $0.keyNames(default: name) }
    }

    /// Sets the user's resources: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        try otherwise.use(resources, defaultKey: defaultKey)
        for index in cases.indices { try cases[index].chain.use(resources, defaultKey: defaultKey) }
        for type in byType.keys.sorted() { try byType[type]?.use(resources, defaultKey: defaultKey) }
    }

    /// The chain of a frame of this type and with these fields.
    func chain(for type: String?, head: [Field]) -> BodyChain {
        if !cases.isEmpty {
            var scope = StructureScope(head)
            if let type { scope.add("type", .text(type)) }
            if let known = cases.first(where: { scope.holds($0.condition) }) { return known.chain }
        }
        return chain(for: type)
    }

    func chain(for type: String?) -> BodyChain {
        type.flatMap { byType[$0] } ?? otherwise
    }
}

/// The encodings of the bodies of frames that fulfil a condition.
package struct BodyCase: Sendable {
    var condition: Expression
    var chain: BodyChain
}

extension Format {
    /// The names of the keys of bodies, streams and checksums, each once. If a format file names none, the key has the format's
    /// name.
    package var bodyKeyNames: [String] {
        let ofSides = Direction.allCases.flatMap { side in
            directions[side].body.keyNames(default: name)
                + directions[side].layouts.flatMap { layout in
                    layout.checksumKeyNames(default: name) + (layout.body?.keyNames(default: name) ?? [])
                }
        }
        return Set(ofSides + (states?.keyNames(default: name) ?? [])).sorted()
    }

    /// Sets the user's resources for decoding: keys and schemas.
    package mutating func use(_ resources: BodyResources) throws(BodyResourceError) {
        try directions.fromClient.body.use(resources, defaultKey: name)
        try directions.fromServer.body.use(resources, defaultKey: name)
        try states?.use(resources, defaultKey: name)
        for side in Direction.allCases {
            for index in directions[side].layouts.indices {
                try directions[side].layouts[index].body?.use(resources, defaultKey: name)
                directions[side].layouts[index].keys = resources.keys
                directions[side].layouts[index].keys[""] = resources.keys[name]
            }
        }
    }
}
