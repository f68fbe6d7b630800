import Streams

/// One way to write a body: an encoding of the format language. Encodings chain: what one yields, the next reads.
///
/// A new encoding is one file in `Encodings/` and one line in `BodyEncodings`.
protocol BodyEncoding: Sendable {
    /// The encoding's name in format files.
    static var name: String { get }

    /// The encoding as a format file's options have it (nil: without options); what is wrong with them is noted there.
    init(_ options: YAMLMap?)

    /// What the encoding is to a chain.
    var role: BodyRole { get }

    /// Reads what a body, or the encoding before this one, has.
    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep

    /// What `decode` finds wrong, where that is quicker told than decoded.
    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck

    /// Writes what `decode` reads: the inverse.
    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8]

    /// The names of the keys that are used.
    func keyNames(default name: String) -> [String]

    /// Takes what the user gave: keys and schemas.
    ///
    /// - Parameter defaultKey: the key's name where the format file names none.
    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError)
}

extension BodyEncoding {
    func check(_ input: RawSpan, _ context: BodyContext) -> BodyCheck { .unknown }

    func keyNames(default name: String) -> [String] { [] }

    mutating func use(_ resources: BodyResources, defaultKey: String) throws(BodyResourceError) {}
}

/// What an encoding is to a chain.
struct BodyRole: OptionSet {
    let rawValue: Int

    /// It changes nothing and finds nothing wrong, so that bodies can be read as often as wanted.
    static let plain = BodyRole(rawValue: 1)
    /// It reads a body that has no bytes.
    static let readsNothing = BodyRole(rawValue: 2)
    /// It says what the bytes mean, rather than how they are wrapped.
    static let meaning = BodyRole(rawValue: 4)
    /// It needs a key.
    static let encrypted = BodyRole(rawValue: 8)
    /// It needs a key, and has none.
    static let locked = BodyRole(rawValue: 16)
}

/// What an encoding may want to know besides its input.
struct BodyContext {
    /// The frame's type.
    var type: String?
    /// Whether the input was decrypted: then it may be what a wrong key made of it.
    var isDecrypted = false
}

/// What an encoding made of its input.
enum BodyStep {
    /// The input is what it is: nothing had to be changed.
    case unchanged(DecodedBody.Form)
    /// These bytes.
    case bytes([UInt8], DecodedBody.Form)
    /// There is no key: the body stays as it is, and that is no fault.
    case locked
    /// The input is not so encoded.
    case fault(BodyFault.Kind, String)
}

/// What a quick look at a body tells.
enum BodyCheck {
    case faultless
    case faulty(BodyFault.Kind)
    /// It has to be decoded.
    case unknown
}

/// What is wrong with a body.
package struct BodyFault: Hashable, Sendable {
    /// The kinds.
    package enum Kind: Hashable, Sendable {
        /// It should be JSON.
        case badJSON
        /// It should be encoded in another way: Protobuf, Base64, gzip ….
        case badBody
        /// What a key makes of it is no plain text.
        case wrongKey
    }

    /// The kind.
    package var kind: Kind
    /// The encoding that found it.
    package var encoding: String
    /// For people: what was found, and where.
    package var message: String

    /// What is wrong with a body.
    package init(kind: Kind, encoding: String, message: String) {
        self.kind = kind
        self.encoding = encoding
        self.message = message
    }
}

/// What a body is to say, before it is encoded: the `body` object of a trace.
package enum BodyContent: Hashable, Sendable {
    /// Text.
    case text(String)
    /// JSON text.
    case json([UInt8])
    /// A Protobuf message as the JSON that traces show.
    case protobuf([UInt8])
    /// Bytes.
    case bytes([UInt8])

    /// The content as bytes, whatever they say.
    var bytes: [UInt8] {
        switch self {
        case .text(let text): Array(text.utf8)
        case .json(let bytes), .protobuf(let bytes), .bytes(let bytes): bytes
        }
    }
}
