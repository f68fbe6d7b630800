import Streams

/// The encoding `zstd` (RFC 8878), of one frame or several. Output is limited to `limit`, by default 16 MiB: `zstd: { limit: 1 MiB }`.
struct ZstdBody: BodyEncoding {
    static let name = "zstd"
    static let keys = KeySection(
        "body.zstd", "zstd compression (RFC 8878), of one frame or several",
        [FormatKey("limit", .byteCount, "the largest decompressed size", default: "16 MiB")])
    private let limit: Int

    init(_ options: YAMLMap?) {
        limit = options?.byteCount("limit") ?? 16 << 20
    }

    var role: BodyRole { [] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        guard let zstd = Zstd() else { return .fault(.badBody, "out of memory") }
        var output: [UInt8] = []
        var at = 0
        while at < input.byteCount || !zstd.isAtFrameEnd {
            let (count, before) = (output.count, at)
            // One byte beyond the limit shows that there is more.
            let room = min(max(256, 4 * input.byteCount, count), 64 << 10, limit + 1 - count)
            output.append(contentsOf: repeatElement(0, count: room))
            if let fault = zstd.step(input, &at, &output, from: count) {
                return .fault(.badBody, "\(fault) near byte \(at)")
            }
            if output.count > limit { return .fault(.badBody, "more than \(limit) bytes come out") }
            if at == before, output.count == count {
                return .fault(.badBody, "it ends too soon, after \(output.count) bytes were expanded")
            }
        }
        return .bytes(output, .opaque)
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        guard let bytes = Zstd.compress(content.bytes) else {
            throw EncodingError("zstd could not compress \(content.bytes.count) bytes")
        }
        return bytes
    }
}
