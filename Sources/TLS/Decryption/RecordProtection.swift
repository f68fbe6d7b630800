import Crypto
import FoundationEssentials
import Streams

/// What a record contains, decrypted and verified.
struct OpenedRecord {
    /// The content type; in TLS 1.3 the inner one.
    let type: UInt8
    /// The plaintext is the first `length` bytes.
    let bytes: Data
    let length: Int
    /// How many bytes of padding it has.
    let padding: Int
    /// The record is genuine, but its content cannot be decrypted: the IV, the end of the record before, is not known.
    var lacksIV = false
}

/// The protection of one direction's records: a key, and how nonces and additional data are made.
struct RecordProtection: Sendable {
    enum Kind: Sendable {
        /// Nonce: IV XOR sequence number; data: the header (RFC 8446 section 5.2 and 5.3).
        case tls13(AEAD)
        /// Nonce: salt and eight bytes sent with the record (RFC 5288 section 3, RFC 6655 section 3).
        case explicitNonce(AEAD)
        /// Nonce: IV XOR sequence number, data as in TLS 1.2 (RFC 7905 section 2).
        case implicitNonce(AEAD)
        case cbc(CBC)
    }

    private(set) var kind: Kind
    private let iv: [UInt8]

    /// The protection by a secret of TLS 1.3; nil for a suite of another version.
    init?(_ secret: TrafficSecret, _ suite: SuiteProtection) {
        let (key, iv) = secret.keys(keyLength: suite.keyLength)
        guard let aead = AEAD(suite.cipher, key) else { return nil }
        (kind, self.iv) = (.tls13(aead), iv)
    }

    /// The protection by a key block of TLS 1.2 or earlier.
    init(_ keys: KeyBlock.Keys, _ suite: SuiteProtection, _ version: ProtocolVersion, encryptThenMAC: Bool) {
        iv = keys.iv
        if let aead = AEAD(suite.cipher, keys.key) {
            kind = suite.cipher == .chaCha20Poly1305 ? .implicitNonce(aead) : .explicitNonce(aead)
        } else if case .aesCBC(let mac) = suite.cipher {
            kind = .cbc(CBC(keys, mac, chained: version == .tls10, encryptThenMAC: encryptThenMAC))
        } else {
            preconditionFailure("every cipher is an AEAD or CBC")
        }
    }

    /// How many bytes of a fragment are not plaintext, at least.
    var overhead: Int {
        switch kind {
        case .tls13(let aead): aead.tagLength + 1
        case .explicitNonce(let aead): aead.tagLength + 8
        case .implicitNonce(let aead): aead.tagLength
        case .cbc(let cbc): cbc.overhead
        }
    }

    /// Whether a record's length tells the plaintext's, but for the padding of TLS 1.3.
    var hasExactOverhead: Bool {
        if case .cbc = kind { false } else { true }
    }

    /// Decrypts and verifies a record; nil if it does not belong to this key and sequence number.
    ///
    /// - Parameters:
    ///   - record: the record with its header.
    ///   - sequence: its number under this key.
    func open(_ header: RecordHeader, _ record: RawSpan, sequence: UInt64) -> OpenedRecord? {
        guard header.length >= overhead else { return nil }
        let fragment = RecordHeader.byteCount..<record.byteCount
        switch kind {
        case .tls13(let aead):
            guard header.type == .applicationData, header.length <= RecordHeader.longestFragment13,
                let plaintext = aead.open(
                    nonce: nonce(sequence), record, fragment, authenticating: record.copied(0..<fragment.lowerBound))
            else { return nil }
            return RecordProtection.inner(plaintext)
        case .explicitNonce(let aead):
            let nonce = iv + record.copied(fragment.lowerBound..<fragment.lowerBound + 8)
            return aead.open(
                nonce: nonce, record, fragment.lowerBound + 8..<fragment.upperBound,
                authenticating: header.authenticated(sequence, length: header.length - overhead)
            ).map { OpenedRecord(type: header.type.rawValue, bytes: $0, length: $0.count, padding: 0) }
        case .implicitNonce(let aead):
            return aead.open(
                nonce: nonce(sequence), record, fragment,
                authenticating: header.authenticated(sequence, length: header.length - overhead)
            ).map { OpenedRecord(type: header.type.rawValue, bytes: $0, length: $0.count, padding: 0) }
        case .cbc(let cbc):
            return cbc.open(header, record.copied(fragment), sequence)
        }
    }

    /// Notes a record that has passed, opened or not: in TLS 1.0 its last block is the next one's IV.
    ///
    /// - Parameter isGenuine: whether its bytes can be trusted.
    mutating func passed(_ record: RawSpan, isGenuine: Bool = true) {
        guard case .cbc(var cbc) = kind else { return }
        cbc.passed(record, isGenuine: isGenuine)
        kind = .cbc(cbc)
    }

    private func nonce(_ sequence: UInt64) -> [UInt8] {
        var nonce = iv
        for at in 0..<8 { nonce[4 + at] ^= UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64(at))) }
        return nonce
    }

    /// `TLSInnerPlaintext`: content, its type, and zeros (RFC 8446 section 5.2).
    private static func inner(_ plaintext: Data) -> OpenedRecord? {
        var end = plaintext.count
        while end > 0, plaintext[plaintext.startIndex + end - 1] == 0 { end -= 1 }
        guard end > 0 else { return nil }
        return OpenedRecord(
            type: plaintext[plaintext.startIndex + end - 1], bytes: plaintext, length: end - 1,
            padding: plaintext.count - end)
    }
}

extension RecordHeader {
    /// The sequence number and header that TLS 1.2 authenticates (RFC 5246 section 6.2.3.1 and 6.2.3.3).
    func authenticated(_ sequence: UInt64, length: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: sequence >> (56 - 8 * UInt64($0))) }
            + [
                type.rawValue, UInt8(version.rawValue >> 8), UInt8(version.rawValue & 255),
                UInt8(truncatingIfNeeded: length >> 8), UInt8(truncatingIfNeeded: length),
            ]
    }
}
