import Streams

/// The encoding `hex`: bytes, shown in hex.
struct HexBody: BodyEncoding {
    static let name = "hex"

    init(_ options: YAMLMap?) {
        options?.allow([])
    }

    var role: BodyRole { [.plain, .readsNothing] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep { .unchanged(.opaque) }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] { content.bytes }
}

/// The encoding `raw`: another name for `hex`, for chains in which nothing is shown yet.
struct RawBody: BodyEncoding {
    static let name = "raw"

    init(_ options: YAMLMap?) {
        options?.allow([])
    }

    var role: BodyRole { [.plain, .readsNothing] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep { .unchanged(.opaque) }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] { content.bytes }
}
