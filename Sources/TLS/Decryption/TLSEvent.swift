/// What happens in a TLS connection besides application data. The direction it is reported with is its sender's.
package enum TLSEvent: Hashable, Sendable {
    /// A ClientHello, also the second one after a HelloRetryRequest and those of renegotiations.
    case clientHello(ClientHello)
    /// The server asks for another ClientHello (RFC 8446 section 4.1.4).
    case helloRetryRequest(ServerHello)
    /// What was negotiated.
    case negotiated(Negotiation)
    /// The certificates of the sender, DER, its own first; an empty list if a client has none.
    case certificate([[UInt8]])
    /// The server asks for a certificate.
    case certificateRequested
    /// An alert.
    case alert(Alert, isEncrypted: Bool)
    /// An encrypted alert that cannot be decrypted.
    case unreadableAlert
    /// All that the client sent after the server's flight has the length of an alert: probably it refused the connection. Only
    /// in TLS 1.3 without keys.
    case alertSuspected
    /// There is no secret of this label for this connection: what it protects, of this handshake, is not decrypted.
    case keysMissing(ClientRandom, KeyLogLabel)
    /// A handshake message of the sender was decrypted, the first one: the secrets are this connection's.
    case keysFit
    /// A record could not be decrypted.
    case decryptionFailed(DecryptionFailure)
    /// The first application data of the sender begins in the record at this offset of its stream, after this many records.
    case applicationDataBegins(offset: Int, records: Int)
    /// The server rejected the client's early data: this many records, and bytes including their headers, were skipped.
    case earlyDataSkipped(records: Int, byteCount: Int)
    /// The sender changed to its next key (RFC 8446 section 4.6.3).
    case keyUpdated
    /// A renegotiation's ServerHello (RFC 5246 section 7.4.1.1).
    case renegotiated
    /// The stream ended in a way that does not tell whether that is all of it.
    case truncated(Truncation)
    /// Something that is not decrypted or understood, named.
    case unsupported(String)
    /// The connection's ClientHello was not captured: nothing can be decrypted.
    case withoutHello
}

/// What a handshake negotiated.
package struct Negotiation: Hashable, Sendable {
    /// The version.
    package internal(set) var version: ProtocolVersion
    /// The cipher suite.
    package internal(set) var cipherSuite: CipherSuite
    /// The protocol of ALPN; in TLS 1.3 nil also if it could not be decrypted.
    package internal(set) var applicationProtocol: String?
    /// Whether a session or a pre-shared key was used instead of a full handshake. Nil if it cannot be seen.
    package internal(set) var isResumed: Bool?
    /// Whether early data was accepted; nil if none was offered, or it cannot be seen.
    package internal(set) var acceptsEarlyData: Bool?
    /// Whether CBC records are encrypted first and then authenticated (RFC 7366).
    package internal(set) var usesEncryptThenMAC = false
    /// Whether a HelloRetryRequest came before.
    package internal(set) var wasRetried = false
}

/// Why and where decryption failed.
package struct DecryptionFailure: Hashable, Sendable {
    /// What is wrong.
    package let reason: String
    /// By which random the keys were looked up.
    package let clientRandom: ClientRandom?
    /// The record's number among those of its direction, from 1.
    package let record: Int
    /// The record's offset in its direction's stream.
    package let offset: Int
}

/// How a stream ended too early.
package enum Truncation: Hashable, Sendable {
    /// Without close_notify (RFC 8446 section 6.1): the end may be an attacker's.
    case withoutCloseNotify
    /// Within a record, of which this many bytes were received; its length is nil if its header is incomplete.
    case withinRecord(received: Int, length: Int?)
}

/// What a direction has carried.
package struct TLSCounts: Hashable, Sendable {
    /// Whole records.
    package internal(set) var records = 0
    /// Bytes received, headers included.
    package internal(set) var wireBytes = 0
    /// Bytes of application data decrypted.
    package internal(set) var plaintextBytes = 0
}
