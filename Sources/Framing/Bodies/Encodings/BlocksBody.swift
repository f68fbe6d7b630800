import Streams

/// The encoding `blocks`: blocks of a size, each with a checksum after it (DNP3, IEEE 1815; FT3 of IEC 60870-5-1).
///
///     body: { blocks: { size: 16, checksum: CRC-16/DNP, byteOrder: little } }
struct BlocksBody: BodyEncoding {
    static let name = "blocks"
    static let needsOptions = true
    static let keys = KeySection(
        "body.blocks", "blocks [with a checksum after each](#blocks-with-checksums)",
        [
            FormatKey("checksum", .text("a [checksum](#header-and-trailer-the-fields)"), "its name", required: true),
            FormatKey("size", .integer(1...65_536), "the bytes of a block; the last one may have fewer", default: "16"),
            FormatKey("width", .integer(1...4), "the bytes of a checksum", default: "2"),
            FormatKey(
                "byteOrder", .words(of: ByteOrder.self), "the checksum's byte order; by default, that of the format"),
        ])

    private let size: Int
    private let checksum: Checksum?
    private let width: Int
    private let order: ByteOrder

    init(_ options: YAMLMap?) {
        size = options?.integer("size") ?? 16
        order = options?.choice("byteOrder", ByteOrder.self) ?? options?.context.bodyOrder ?? .big
        width = options?.integer("width") ?? 2
        let name = options?.requiredText("checksum")
        checksum = name.flatMap { Checksum.named($0) }
        if let name, checksum == nil {
            options?.fault("there is no checksum \(name); \(LoadContext.hint(name, Checksum.names))", at: "checksum")
        }
        if let checksum, checksum.digest != nil, let name {
            options?.fault("\(name) has no number of at most 4 bytes; expected a sum or a CRC", at: "checksum")
        }
    }

    var role: BodyRole { [] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        var content: [UInt8] = []
        var at = 0
        while at < input.byteCount {
            let end = min(at + size, input.byteCount - width)
            guard end > at else { return .fault(.badBody, "the block at byte \(at) has no checksum") }
            let block = input.extracting(at..<end)
            let found = input.unsigned(at: end, width: width, order)
            let expected = value(block)
            if found != expected {
                let detail = "0x\(String(found, radix: 16)), expected 0x\(String(expected, radix: 16))"
                return .fault(.badBody, "the checksum of the block at byte \(at) is \(detail)")
            }
            content.append(contentsOf: block)
            at = end + width
        }
        return .bytes(content, .opaque)
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        let content = content.bytes
        var bytes: [UInt8] = []
        var at = 0
        while at < content.count {
            let block = Array(content[at..<min(at + size, content.count)])
            bytes += block + BinaryHead.bytes(value(block.span.bytes), width: width, order)
            at += size
        }
        return bytes
    }

    private func value(_ block: RawSpan) -> UInt64 {
        (checksum?.value(of: block) ?? 0) & (UInt64(1) << UInt64(8 * width) - 1)
    }
}
