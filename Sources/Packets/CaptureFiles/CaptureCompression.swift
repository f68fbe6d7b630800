/// Compressions that a capture may have and that are not read; gzip is read.
package enum CaptureCompression: String, Hashable, Sendable, CaseIterable {
    case zstd, xz, bzip2, lz4

    /// The compression of a file that begins with these four bytes, read as a number in network byte order; nil if it has none of
    /// these.
    ///
    /// Source: RFC 8878 section 3.1.1, "The .xz File Format" section 2.1.1.1, bzip2's `compress.c`, "LZ4 Frame Format".
    init?(magic: UInt32) {
        switch magic {
        case 0x28b5_2ffd: self = .zstd
        case 0xfd37_7a58: self = .xz
        case 0x425a_6831...0x425a_6839: self = .bzip2  // BZh1 to BZh9
        case 0x0422_4d18: self = .lz4
        default: return nil
        }
    }

    /// What decompresses a file into standard output, without the file's name.
    package var command: String { "\(rawValue) -dc" }
}
