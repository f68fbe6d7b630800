import Streams

/// The records of a TLS stream that was picked up after its hello: most of what is not framed in the captures of others.
///
///     0      1         3        5
///     +------+---------+--------+--- …
///     | type | version | length | fragment, encrypted
///     +------+---------+--------+--- …
///
/// Source: RFC 8446, sections 5.1 and 5.2; RFC 5246, section 6.2.3, for the longer fragments of TLS 1.2.
enum TLSRecords {
    /// How many heads must follow one another: other data has them at one place in 2^46.
    private static let heads = 2
    private static let head = 5
    private static let longest = 1 << 14 + 2_048

    /// The human-readable evidence in bytes of a stream, wherever in it; nil if there is none.
    static func evidence(in bytes: RawSpan) -> String? {
        for start in 0..<max(0, bytes.byteCount - head + 1) {
            let count = row(in: bytes, from: start)
            if count >= heads { return "\(count) TLS records in a row (RFC 8446, section 5.1), picked up mid-stream" }
        }
        return nil
    }

    /// How many heads follow one another from an index on.
    private static func row(in bytes: RawSpan, from start: Int) -> Int {
        var (at, count) = (start, 0)
        // Change cipher spec, alert, handshake, application data.
        while at + head <= bytes.byteCount, 20...23 ~= bytes[byte: at], bytes[byte: at + 1] == 3,
            1...3 ~= bytes[byte: at + 2], bytes[byte: at + 2] == bytes[byte: start + 2]
        {
            let length = Int(bytes[byte: at + 3]) << 8 | Int(bytes[byte: at + 4])
            guard 1...longest ~= length else { break }
            (at, count) = (at + head + length, count + 1)
        }
        return count
    }
}
