import Streams

/// How the bodies of one direction's frames are decoded, by frame type.
package struct BodyFormat: Sendable {
    /// The chains of the frame types that are named.
    var byType: [String: BodyChain]
    /// The chain of all others.
    var otherwise: BodyChain

    /// Bodies that all have the same encodings; without any they are opaque.
    init(byType: [String: BodyChain] = [:], _ otherwise: BodyChain = BodyChain([])) {
        self.byType = byType
        self.otherwise = otherwise
        isPlain = otherwise.isPlain && byType.values.allSatisfy(\.isPlain)
    }

    /// Whether bodies are plain text or bytes: they cost nothing to decode, and can have no faults.
    package let isPlain: Bool

    /// Whether all bodies are shown as bytes in hex, so that no condition can refer to their content.
    var isOpaque: Bool { otherwise.isOpaque && byType.values.allSatisfy(\.isOpaque) }

    /// Decodes a body.
    ///
    /// - Parameter type: the frame's type, evaluated only if needed.
    package func decode(_ body: RawSpan, type: @autoclosure () -> String?) -> DecodedBody {
        if isPlain, byType.isEmpty { return otherwise.decode(body, type: nil) }
        let type = type()
        return chain(for: type).decode(body, type: type)
    }

    /// Encodes `content`.
    package func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        try chain(for: type).encode(content, type: type)
    }

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String] {
        otherwise.keyNames(default: name) + byType.values.flatMap { $0.keyNames(default: name) }
    }

    /// Sets the user's resources: keys and schemas.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {
        try otherwise.use(resources, defaultKey: defaultKey)
        for type in byType.keys.sorted() { try byType[type]?.use(resources, defaultKey: defaultKey) }
    }

    func chain(for type: String?) -> BodyChain {
        type.flatMap { byType[$0] } ?? otherwise
    }
}

extension Format {
    /// The names of the keys that bodies are encrypted with, each once. If a format file names none, the key has the format's
    /// name.
    package var bodyKeyNames: [String] {
        Set(directions.fromClient.body.keyNames(default: name) + directions.fromServer.body.keyNames(default: name))
            .sorted()
    }

    /// Sets the user's resources for decoding bodies: keys and schemas.
    package mutating func use(_ resources: BodyResources) throws(BodyResourceError) {
        try directions.fromClient.body.use(resources, defaultKey: name)
        try directions.fromServer.body.use(resources, defaultKey: name)
    }
}
