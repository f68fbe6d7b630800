import Streams

/// The encoding `zlib` (RFC 1950). Output is limited to `limit`, by default 16 MiB: `zlib: { limit: 1 MiB }`.
struct ZlibBody: CompressedBody {
    static let name = "zlib"
    static let keys = options(name, "zlib compression (RFC 1950)")
    let zlib = Zlib(wrapping: .zlib)
    let limit: Int

    init(_ options: YAMLMap?) { limit = Self.limit(options) }
}

/// The encoding `gzip` (RFC 1952), of one member or several. Output is limited to `limit`, by default 16 MiB.
struct GzipBody: CompressedBody {
    static let name = "gzip"
    static let keys = options(name, "gzip compression (RFC 1952), of one member or several")
    let zlib = Zlib(wrapping: .gzip)
    let limit: Int

    init(_ options: YAMLMap?) { limit = Self.limit(options) }
}

/// The encoding `deflate` (RFC 1951), without header or trailer. Output is limited to `limit`, by default 16 MiB.
struct DeflateBody: CompressedBody {
    static let name = "deflate"
    static let keys = options(name, "deflate compression (RFC 1951), without header or trailer")
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
    /// The keys of such an encoding.
    fileprivate static func options(_ name: String, _ summary: String) -> KeySection {
        KeySection(
            "body.\(name)", summary,
            [FormatKey("limit", .byteCount, "the largest decompressed size", default: "16 MiB")])
    }

    static func limit(_ options: YAMLMap?) -> Int { options?.byteCount("limit") ?? 16 << 20 }

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
