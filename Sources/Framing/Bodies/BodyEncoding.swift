import Streams

/// One way to write a body: an encoding of the format language. Encodings chain: each one's output is the next one's input.
///
/// A new encoding is one file in `Encodings/` and one line in `BodyEncodings`.
protocol BodyEncoding: Sendable {
    /// The encoding's name in format files.
    static var name: String { get }

    /// Its options.
    static var keys: KeySection { get }

    /// What may stand in place of a mapping with options.
    static var short: KeyValue? { get }

    /// Whether it means nothing without options.
    static var needsOptions: Bool { get }

    /// The encoding with a format file's options (nil: without options); faults are recorded in the options' context.
    init(_ options: YAMLMap?)

    /// The encoding's role in a chain.
    var role: BodyRole { get }

    /// Decodes a body, or the output of the preceding encoding.
    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep

    /// The fault that `decode` would find, if it can be found without decoding.
    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck

    /// Encodes a body: the inverse of `decode`.
    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8]

    /// The same, if it depends on the header's fields.
    func encode(_ content: BodyContent, _ context: BodyContext) throws(EncodingError) -> [UInt8]

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String]

    /// Sets the user's resources: keys and schemas.
    ///
    /// - Parameter defaultKey: the key's name if the format file names none.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError)
}

extension BodyEncoding {
    static var needsOptions: Bool { false }

    static var short: KeyValue? { nil }

    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck { .unknown }

    func encode(_ content: BodyContent, _ context: BodyContext) throws(EncodingError) -> [UInt8] {
        try encode(content, type: context.type)
    }

    func keyNames(default name: String) -> [String] { [] }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {}
}

/// An encoding's role in a chain.
struct BodyRole: OptionSet {
    let rawValue: Int

    /// It changes nothing and finds no faults, so that bodies can be decoded repeatedly at no cost.
    static let plain = BodyRole(rawValue: 1)
    /// It decodes an empty body.
    static let readsNothing = BodyRole(rawValue: 2)
    /// It defines what the bytes mean, rather than how they are wrapped.
    static let meaning = BodyRole(rawValue: 4)
    /// It needs a key.
    static let encrypted = BodyRole(rawValue: 8)
    /// It needs a key, but has none.
    static let locked = BodyRole(rawValue: 16)
    /// It may depend on the header's fields.
    static let readsHead = BodyRole(rawValue: 32)
}

/// What an encoding may need in addition to its input.
struct BodyContext {
    /// The frame's type.
    var type: String?
    /// Whether the input was decrypted, and so may be the output of a wrong key.
    var isDecrypted = false
    /// The header's fields, if the chain depends on them.
    var head: [Field] = []
    /// The bytes of those fields that are keys.
    var keys: [String: [UInt8]] = [:]
}

/// An encoding's result.
enum BodyStep {
    /// The input as it is: nothing had to be changed.
    case unchanged(DecodedBody.Form)
    /// These bytes.
    case bytes([UInt8], DecodedBody.Form)
    /// Frames of another format as JSON, or fields with such frames, and the same without that format's secrets; nil if there are
    /// none.
    case redactable([UInt8], DecodedBody.Form, redacted: [UInt8]?)
    /// There is no key: the body stays as it is, which is not a fault.
    case locked
    /// The input is not encoded this way.
    case fault(BodyFault.Kind, String)
}

/// The result of a quick check of a body.
enum BodyCheck {
    case faultless
    case faulty(BodyFault.Kind)
    /// It must be decoded.
    case unknown
}

/// A fault in a body.
package struct BodyFault: Hashable, Sendable {
    /// The kinds.
    package enum Kind: Hashable, Sendable {
        /// It should be JSON.
        case badJSON
        /// It should have another encoding: Protobuf, Base64, gzip ….
        case badBody
        /// Decrypting it with the key does not yield plain text.
        case wrongKey
    }

    /// The kind.
    package var kind: Kind
    /// The encoding that found it.
    package var encoding: String
    /// Human-readable: what was found, and where.
    package var message: String

    /// A fault in a body.
    package init(kind: Kind, encoding: String, message: String) {
        self.kind = kind
        self.encoding = encoding
        self.message = message
    }
}

/// The content of a body before it is encoded: the `body` object of a trace.
package enum BodyContent: Hashable, Sendable {
    /// Text.
    case text(String)
    /// JSON text.
    case json([UInt8])
    /// A Protobuf message as the JSON that traces show.
    case protobuf([UInt8])
    /// The fields of a structured body as the JSON that traces show.
    case fields([UInt8])
    /// Bytes.
    case bytes([UInt8])

    /// The content as bytes, whatever its form.
    var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .json(let bytes), .protobuf(let bytes), .fields(let bytes), .bytes(let bytes): bytes
        }
    }
}
