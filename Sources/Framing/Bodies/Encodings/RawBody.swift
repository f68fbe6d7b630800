import Streams

/// The encoding `hex`: bytes, shown in hex.
struct HexBody: BodyEncoding {
    static let name = "hex"
    static let keys = KeySection("body.hex", "bytes as they are", [])

    init(_ options: YAMLMap?) {}

    var role: BodyRole { [.plain, .readsNothing] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep { .unchanged(.opaque) }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] { content.bytes }
}

/// The encoding `raw`: another name for `hex`, for chains in which nothing is shown yet.
struct RawBody: BodyEncoding {
    static let name = "raw"
    static let keys = KeySection("body.raw", "the same as `hex`, for chains in which nothing is shown yet", [])

    init(_ options: YAMLMap?) {}

    var role: BodyRole { [.plain, .readsNothing] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep { .unchanged(.opaque) }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] { content.bytes }
}
