import Streams

/// What the first bytes of a direction look like.
package enum TLSBeginning: Hashable, Sendable {
    /// More bytes decide: at most 11 are needed.
    case undecided
    /// A handshake record with a ClientHello or ServerHello, or an alert in place of one.
    case tls
    /// An older protocol, named: `SSL 2.0`.
    case unsupported(String)
    /// Something else.
    case notTLS

    /// Judges the first bytes of a direction; more bytes never revise a decision.
    ///
    ///      0      1         3        5      6          9
    ///     +------+---------+--------+------+----------+---------
    ///     | 0x16 | 3 | 0–4 | length | 1, 2 |  length  | 3 | 0–4
    ///     +------+---------+--------+------+----------+---------
    ///
    /// Source: RFC 8446 sections 5.1 and 4; SSL 2.0: RFC 5246 appendix E.2.
    package init(_ start: RawSpan) {
        if let first = start.byteCount > 0 ? start[byte: 0] : nil, first & 0x80 != 0 {
            self = TLSBeginning.ssl2(start)
            return
        }
        let isAlert = start.byteCount > 0 && start[byte: 0] == ContentType.alert.rawValue
        let fits: [(Int, ClosedRange<UInt8>)] =
            isAlert
            ? [(1, 3...3), (2, 0...4), (3, 0...0), (4, 2...2), (5, 1...2)]
            : [(0, 22...22), (1, 3...3), (2, 0...4), (3, 0...0x40), (5, 1...2), (6, 0...1), (9, 3...3), (10, 0...4)]
        // A ClientHello may be cut into records so short that the next header lies where its version would.
        let fragment = start.byteCount < 5 ? 6 : Int(start[byte: 3]) << 8 | Int(start[byte: 4])
        let length = min(isAlert ? 6 : 11, RecordHeader.byteCount + fragment)
        for (offset, values) in fits where offset < min(start.byteCount, length) {
            guard !values.contains(start[byte: offset]) else { continue }
            self = .notTLS
            return
        }
        if start.byteCount < length {
            self = .undecided
        } else if fragment == 0 {
            self = .notTLS
        } else if length == 11, start[byte: 10] == 0 {
            self = .unsupported("SSL 3.0")
        } else {
            self = .tls
        }
    }

    /// A CLIENT-HELLO of SSL 2.0: a length with its high bit set, 1, a version, and three lengths.
    private static func ssl2(_ start: RawSpan) -> TLSBeginning {
        if start.byteCount > 2, start[byte: 2] != 1 { return .notTLS }
        if start.byteCount > 3, start[byte: 3] != 0, start[byte: 3] != 3 { return .notTLS }
        guard start.byteCount >= 11 else { return .undecided }
        let version = start[byte: 3] == 0 ? start[byte: 4] == 2 : start[byte: 4] <= 4
        let length = Int(start[byte: 0] & 0x7f) << 8 | Int(start[byte: 1])
        let suites = Int(start[byte: 5]) << 8 | Int(start[byte: 6])
        let session = Int(start[byte: 7]) << 8 | Int(start[byte: 8])
        let challenge = Int(start[byte: 9]) << 8 | Int(start[byte: 10])
        guard version, suites.isMultiple(of: 3), (16...32).contains(challenge),
            length == 9 + suites + session + challenge
        else { return .notTLS }
        return .unsupported("SSL 2.0 hello")
    }
}
