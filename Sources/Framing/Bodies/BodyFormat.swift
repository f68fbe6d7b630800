import Streams

/// How the bodies of one direction's frames are to be read, by the frames' types.
package struct BodyFormat: Sendable {
    /// The chains of frames whose types are named.
    var byType: [String: BodyChain]
    /// The chain of all others.
    var otherwise: BodyChain

    /// Bodies that all have the same encodings; without any they are opaque.
    init(byType: [String: BodyChain] = [:], _ otherwise: BodyChain = BodyChain([])) {
        self.byType = byType
        self.otherwise = otherwise
        isPlain = otherwise.isPlain && byType.values.allSatisfy(\.isPlain)
    }

    /// Whether bodies are text or bytes as they stand: they cost nothing to read, and nothing can be wrong with them.
    package let isPlain: Bool

    /// Whether all bodies are shown as bytes in hex, so that no condition can look into them.
    var isOpaque: Bool { otherwise.isOpaque && byType.values.allSatisfy(\.isOpaque) }

    /// What a body is.
    ///
    /// - Parameter type: the frame's type, asked for only where it matters.
    package func decode(_ body: RawSpan, type: @autoclosure () -> String?) -> DecodedBody {
        if isPlain, byType.isEmpty { return otherwise.decode(body, type: nil) }
        let type = type()
        return chain(for: type).decode(body, type: type)
    }

    /// The body that says `content`.
    package func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        try chain(for: type).encode(content, type: type)
    }

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String] {
        otherwise.keyNames(default: name) + byType.values.flatMap { $0.keyNames(default: name) }
    }

    /// Takes what the user gave: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        try otherwise.use(resources, defaultKey: defaultKey)
        for type in byType.keys.sorted() { try byType[type]?.use(resources, defaultKey: defaultKey) }
    }

    func chain(for type: String?) -> BodyChain {
        type.flatMap { byType[$0] } ?? otherwise
    }
}

extension Format {
    /// The names of the keys that bodies are encrypted with, each once. A format file that names none means the format's own.
    package var bodyKeyNames: [String] {
        Set(directions.fromClient.body.keyNames(default: name) + directions.fromServer.body.keyNames(default: name))
            .sorted()
    }

    /// Takes what the user gave for reading bodies: keys and schemas.
    package mutating func use(_ resources: BodyResources) throws(BodyResourceError) {
        try directions.fromClient.body.use(resources, defaultKey: name)
        try directions.fromServer.body.use(resources, defaultKey: name)
    }
}
