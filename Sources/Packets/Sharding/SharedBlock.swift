import Streams

/// Blocks that every shard gets, in little-endian order: secrets, and names of hosts.
///
/// Source: draft-ietf-opsawg-pcapng, sections 4.5 and 4.7.
enum SharedBlock {
    /// The block for the body of another file's block; nil if it is of another kind.
    static func block(_ block: CaptureBlock, _ body: RawSpan) -> [UInt8]? {
        switch block.kind {
        case .secrets: secrets(body, block.isBigEndian)
        case .names: names(body, block.isBigEndian)
        case .header, .section, .interface, .statistics: nil
        }
    }

    /// A decryption secrets block: type (4), length (4), secrets. Its options are left out.
    private static func secrets(_ body: RawSpan, _ isBigEndian: Bool) -> [UInt8]? {
        guard body.byteCount >= 8 else { return nil }
        let count = Int(PcapngOption.number(body.u32(4), isBigEndian))
        guard count <= body.byteCount - 8 else { return nil }
        var block: [UInt8] = []
        block.append(first: 4, of: 10)
        block.append(first: 4, of: 0)
        block.append(first: 4, of: UInt64(PcapngOption.number(body.u32(0), isBigEndian)))
        block.append(first: 4, of: UInt64(count))
        block.append(contentsOf: body.extracting(8..<8 + count))
        block.padToWord()
        ShardBlocks.close(&block)
        return block
    }

    /// A name resolution block: records of type (2), length (2) and value, up to one of type 0. Its options are left out.
    private static func names(_ body: RawSpan, _ isBigEndian: Bool) -> [UInt8]? {
        var block: [UInt8] = []
        block.append(first: 4, of: 4)
        block.append(first: 4, of: 0)
        let start = block.count
        var at = 0
        while body.byteCount - at >= 4 {
            let type = PcapngOption.number(body.u16(at), isBigEndian)
            let length = Int(PcapngOption.number(body.u16(at + 2), isBigEndian))
            guard type != 0, body.byteCount - at - 4 >= length else { break }
            block.append(first: 2, of: UInt64(type))
            block.append(first: 2, of: UInt64(length))
            block.append(contentsOf: body.extracting(at + 4..<at + 4 + length))
            block.padToWord()
            at += 4 + (length + 3) & ~3
        }
        guard block.count > start else { return nil }
        block.append(first: 4, of: 0)
        ShardBlocks.close(&block)
        return block
    }
}
