/// What a ServerHello says (RFC 8446 section 4.1.3, RFC 5246 section 7.4.1.3).
package struct ServerHello: Hashable, Sendable {
    /// The version negotiated: of `supported_versions`, else `legacy_version`.
    package let version: ProtocolVersion
    /// `random`, 32 bytes.
    package let random: [UInt8]
    /// `legacy_session_id_echo`, or the ID of the session.
    package let sessionID: [UInt8]
    /// The cipher suite chosen.
    package let cipherSuite: CipherSuite
    /// The compression method; 0 is none.
    package let compressionMethod: UInt8
    /// The protocol chosen in ALPN (RFC 7301): up to TLS 1.2 only, since TLS 1.3 encrypts it.
    package let applicationProtocol: String?
    /// Whether records are encrypted first and then authenticated (RFC 7366).
    package let usesEncryptThenMAC: Bool
    /// Whether the extended master secret is used (RFC 7627).
    package let usesExtendedMasterSecret: Bool
    /// Which of the client's pre-shared keys was chosen in TLS 1.3.
    package let selectedPSK: UInt16?
    /// The group of `key_share`, by number: the one chosen, or asked for by a HelloRetryRequest.
    package let keyShareGroup: UInt16?

    /// Whether it is a HelloRetryRequest: its random is SHA-256 of that word (RFC 8446 section 4.1.3).
    package var isHelloRetryRequest: Bool { random == ServerHello.retryRandom }

    private static let retryRandom: [UInt8] = [
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
        0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
    ]

    /// Reads the body of a ServerHello message; nil if it is malformed.
    init?(_ body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let legacyVersion = reader.u16(), legacyVersion >> 8 == 3,
            let random = reader.bytes(ClientRandom.byteCount),
            let sessionID = reader.vector(1), sessionID.count <= 32,
            let suite = reader.u16(), let compression = reader.u8(),
            let extensions = HelloExtension.list(&reader)
        else { return nil }
        func content(_ type: UInt16) -> ArraySlice<UInt8>? { extensions.first { $0.type == type }?.body }
        func number(_ type: UInt16) -> UInt16? {
            content(type).flatMap { content in
                var reader = ByteReader(content)
                return reader.u16()
            }
        }
        version = ProtocolVersion(rawValue: number(HelloExtension.supportedVersions) ?? legacyVersion)
        self.random = Array(random)
        self.sessionID = Array(sessionID)
        cipherSuite = CipherSuite(rawValue: suite)
        compressionMethod = compression
        applicationProtocol = content(HelloExtension.alpn).flatMap { HelloExtension.protocolNames($0)?.first }
            .map { String(decoding: $0, as: UTF8.self) }
        usesEncryptThenMAC = content(HelloExtension.encryptThenMAC) != nil
        usesExtendedMasterSecret = content(HelloExtension.extendedMasterSecret) != nil
        selectedPSK = number(HelloExtension.preSharedKey)
        keyShareGroup = number(HelloExtension.keyShare)
    }
}
