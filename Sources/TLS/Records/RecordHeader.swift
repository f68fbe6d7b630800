import Streams

/// The five bytes before every record.
///
///      0      1         3        5
///     +------+---------+--------+----------
///     | type | version | length | fragment …
///     +------+---------+--------+----------
///
/// Source: RFC 8446 section 5.1, RFC 5246 section 6.2.1.
package struct RecordHeader: Hashable, Sendable {
    /// Bytes of a header.
    package static let byteCount = 5
    /// The longest fragment: 2^14 bytes and an expansion of 2,048 (RFC 5246 section 6.2.3).
    package static let longestFragment = (1 << 14) + 2_048
    /// The longest fragment of TLS 1.3: 2^14 bytes and an expansion of 256 (RFC 8446 section 5.2).
    package static let longestFragment13 = (1 << 14) + 256

    /// What the record carries.
    package let type: ContentType
    /// `legacy_record_version`.
    package let version: ProtocolVersion
    /// How many bytes follow the header.
    package let length: Int

    /// How many bytes the record has with its header.
    package var recordLength: Int { RecordHeader.byteCount + length }

    /// Reads the header at `offset`, where there are five bytes; nil if no TLS record begins like that.
    init?(_ bytes: RawSpan, at offset: Int = 0) {
        guard let type = ContentType(rawValue: bytes[byte: offset]), bytes[byte: offset + 1] == 3,
            bytes[byte: offset + 2] <= 4
        else { return nil }
        let length = Int(bytes[byte: offset + 3]) << 8 | Int(bytes[byte: offset + 4])
        guard length <= RecordHeader.longestFragment else { return nil }
        self.type = type
        version = ProtocolVersion(rawValue: 0x0300 | UInt16(bytes[byte: offset + 2]))
        self.length = length
    }
}
