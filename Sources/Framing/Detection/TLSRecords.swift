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
    /// How many heads must follow one another: other data has two of them at one place in 2^46.
    private static let least: UInt16 = 2
    private static let head = 5
    private static let longest = 1 << 14 + 2_048

    /// The human-readable evidence in bytes of a stream: records that follow one another up to their end, from wherever; nil if there
    /// are none.
    static func evidence(in bytes: RawSpan) -> String? {
        // From the end: how many heads follow one another from each place on.
        var rows = [UInt16](repeating: 0, count: bytes.byteCount)
        for at in rows.indices.reversed() {
            guard let end = end(ofRecordAt: at, in: bytes) else { continue }
            if end + head > bytes.byteCount {
                rows[at] = 1
            } else if rows[end] > 0, bytes[byte: end + 2] == bytes[byte: at + 2] {
                rows[at] = rows[end] == .max ? .max : rows[end] + 1
            }
        }
        guard let count = rows.first(where: { $0 >= least }) else { return nil }
        return "\(count) TLS records in a row (RFC 8446, section 5.1), picked up mid-stream"
    }

    /// Where the record whose head is at an index ends; nil if there is none.
    private static func end(ofRecordAt at: Int, in bytes: RawSpan) -> Int? {
        // Change cipher spec, alert, handshake, application data; TLS 1.0 to 1.3.
        guard at + head <= bytes.byteCount, 20...23 ~= bytes[byte: at], bytes[byte: at + 1] == 3,
            1...3 ~= bytes[byte: at + 2]
        else { return nil }
        let length = Int(bytes[byte: at + 3]) << 8 | Int(bytes[byte: at + 4])
        return 1...longest ~= length ? at + head + length : nil
    }
}
