/// What is known about a connection's TLS: from its handshake, or from those of a proxy that decrypts it.
public struct TLSFacts: Hashable, Sendable {
    /// Where decrypted bytes come from.
    public enum Decryption: String, Sendable, Hashable, CaseIterable {
        /// The proxy is one end of both TLS connections.
        case intercepted
        /// The secrets of a key log, or of the capture.
        case keys
    }

    /// A certificate, as far as people look at it.
    public struct Certificate: Hashable, Sendable {
        /// The subject's distinguished name.
        public var subject: String
        /// The issuer's distinguished name.
        public var issuer: String
        /// The names and addresses it is for (`subjectAltName`, RFC 5280 section 4.2.1.6).
        public var names: [String]
        /// From when it is valid.
        public var notBefore: Timestamp
        /// Until when it is valid.
        public var notAfter: Timestamp
        /// SHA-256 of its DER encoding, in lower-case hexadecimal.
        public var sha256: String

        /// A certificate.
        public init(
            subject: String, issuer: String, names: [String], notBefore: Timestamp, notAfter: Timestamp, sha256: String
        ) {
            (self.subject, self.issuer, self.names) = (subject, issuer, names)
            (self.notBefore, self.notAfter, self.sha256) = (notBefore, notAfter, sha256)
        }
    }

    /// What a direction had on the wire when its first bytes were decrypted, or when it was known that they would not be.
    public struct Handshake: Hashable, Sendable {
        /// How many TLS records.
        public var records: Int
        /// How many bytes: the offset on the wire at which decrypted bytes begin.
        public var bytes: Int

        /// Counts.
        public init(records: Int = 0, bytes: Int = 0) { (self.records, self.bytes) = (records, bytes) }
    }

    /// Where decrypted bytes come from; nil: nothing is decrypted.
    public var decryption: Decryption?
    /// The version negotiated: `TLS 1.3`.
    public var version: String?
    /// The cipher suite negotiated, by its IANA name.
    public var cipherSuite: String?
    /// The server's name that the client asked for (SNI, RFC 6066 section 3).
    public var serverName: String?
    /// The protocol negotiated (ALPN, RFC 7301).
    public var applicationProtocol: String?
    /// The protocols that the client offers.
    public var offeredProtocols: [String] = []
    /// The versions that the client offers.
    public var offeredVersions: [String] = []
    /// The ClientHello's random in hexadecimal, by which a key log names the connection; nil if its keys are of no use.
    public var clientRandom: String?
    /// Whether a session is resumed.
    public var isResumed = false
    /// The server's certificate.
    public var certificate: Certificate?
    /// Whether the proxy verified the server's certificate; nil if it is not the proxy's to verify.
    public var isVerified: Bool?
    /// The handshake of each direction.
    public var handshake = PerDirection(fromClient: Handshake(), fromServer: Handshake())

    /// Nothing but where decrypted bytes come from.
    public init(by decryption: Decryption? = nil) { self.decryption = decryption }
}
