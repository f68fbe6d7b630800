import Streams

/// The parts of an index file. Numbers of fixed size are little-endian; all others are LEB128: seven bits a byte, least significant
/// first, the highest bit set in all but the last.
///
///      0               8   10  12              20              28      32
///     +---------------+---+---+---------------+---------------+-------+
///     | "ftindex", 0  |ver|flg| size of file  | modified      |checks.|     then chunks:
///     +---------------+---+---+---------------+---------------+-------+
///     | length|filter | earliest      | latest        |checks.|checks.|     then the filter, then records, `length` bytes
///     +-------+-------+---------------+---------------+-------+-------+
///
/// A chunk of connections has a filter: which ones may be in it. The first checksum is that of the records, the second one that of the
/// head before it and of the filter. `docs/index.md` describes filters and records.
enum IndexFormat {
    /// What an index begins with.
    static let magic = Array("ftindex\0".utf8)
    /// Version 1 had wrong addresses where the ends have different families, and not the places that date packets without times.
    /// Version 2 had no filters.
    static let version: UInt64 = 3
    static let headerLength = 32
    static let chunkHeadLength = 32
    /// The longest chunk that is read.
    static let longestChunk = 1 << 20
    /// After how many bytes a chunk ends.
    static let chunkLength = 64 << 10
    /// How many extents a record may have.
    static let mostExtents = 64

    /// The first byte of a record.
    enum Kind {
        static let connection: UInt8 = 1
        static let places: UInt8 = 2
        static let end: UInt8 = 3
    }

    /// The sum that finds damage: FNV-1a, 32 bits.
    static func checksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
        bytes.reduce(0x811c_9dc5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
    }
}

extension [UInt8] {
    /// Appends extents: how many; of each, how far it is from the one before it, and its length.
    mutating func append(extents: [Range<Int>]) {
        append(varint: UInt64(extents.count))
        var end = 0
        for extent in extents {
            append(varint: UInt64(extent.lowerBound - end))
            append(varint: UInt64(extent.count))
            end = extent.upperBound
        }
    }
}
