import Streams

/// How a body is to be read: one encoding of the format language. Encodings chain: what one yields, the next reads.
public protocol BodyEncoding: Sendable {
    /// The encoding's name in format files.
    static var name: String { get }

    /// Reads a body.
    func decode(_ body: RawSpan) -> BodyContent
}

/// What a body turned out to be.
public enum BodyContent: Sendable {
    /// The bytes as they are, and they are valid UTF-8.
    case text
    /// The bytes as they are; nothing more is known of them.
    case opaque
}

/// The encoding `text`: UTF-8. A body that is not UTF-8 stays opaque.
package struct TextBody: BodyEncoding {
    package static let name = "text"

    /// The encoding.
    package init() {}

    package func decode(_ body: RawSpan) -> BodyContent {
        body.firstInvalidUTF8() == nil ? .text : .opaque
    }
}

/// The encoding `hex`: bytes that are shown as they are.
package struct HexBody: BodyEncoding {
    package static let name = "hex"

    /// The encoding.
    package init() {}

    package func decode(_ body: RawSpan) -> BodyContent { .opaque }
}

/// Every body encoding there is, by the names format files use.
enum BodyEncodings {
    static let all: [String: any BodyEncoding] = [
        TextBody.name: TextBody(),
        HexBody.name: HexBody(),
    ]
}
