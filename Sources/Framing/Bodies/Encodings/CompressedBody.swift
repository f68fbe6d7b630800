import Streams

/// The encoding `zlib` (RFC 1950). Output is limited to `limit`, by default 16 MiB: `zlib: { limit: 1 MiB }`.
struct ZlibBody: CompressedBody {
    static let name = "zlib"
    let zlib = Zlib(wrapping: .zlib)
    let limit: Int

    init(_ options: YAMLMap?) { limit = Self.limit(options) }
}

/// The encoding `gzip` (RFC 1952), of one member or several. Output is limited to `limit`, by default 16 MiB.
struct GzipBody: CompressedBody {
    static let name = "gzip"
    let zlib = Zlib(wrapping: .gzip)
    let limit: Int

    init(_ options: YAMLMap?) { limit = Self.limit(options) }
}

/// The encoding `deflate` (RFC 1951), without header or trailer. Output is limited to `limit`, by default 16 MiB.
struct DeflateBody: CompressedBody {
    static let name = "deflate"
    let zlib = Zlib(wrapping: .none)
    let limit: Int

    init(_ options: YAMLMap?) { limit = Self.limit(options) }
}

/// An encoding that zlib decompresses.
protocol CompressedBody: BodyEncoding {
    /// How it is wrapped.
    var zlib: Zlib { get }
    /// The most bytes that may be produced.
    var limit: Int { get }
}

extension CompressedBody {
    static func limit(_ options: YAMLMap?) -> Int {
        options?.allow(["limit"])
        return options?.byteCount("limit", default: 16 << 20) ?? 16 << 20
    }

    var role: BodyRole { [] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        do throws(Zlib.Fault) {
            return .bytes(try zlib.expand(input, limit: limit), .opaque)
        } catch {
            return .fault(.badBody, error.description)
        }
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        guard let bytes = zlib.compress(content.bytes) else {
            throw EncodingError("zlib could not compress \(content.bytes.count) bytes")
        }
        return bytes
    }
}
