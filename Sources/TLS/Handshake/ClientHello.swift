/// What a ClientHello says (RFC 8446 section 4.1.2, RFC 5246 section 7.4.1.2). GREASE values (RFC 8701) are left out.
package struct ClientHello: Hashable, Sendable {
    /// `legacy_version`: the highest version offered by clients older than TLS 1.3.
    package let legacyVersion: ProtocolVersion
    /// `random`.
    package let random: ClientRandom
    /// `legacy_session_id`, at most 32 bytes.
    package let sessionID: [UInt8]
    /// The cipher suites offered, in the client's order.
    package let cipherSuites: [CipherSuite]
    /// Compression methods; 0 is none.
    package let compressionMethods: [UInt8]
    /// The host name of `server_name` (RFC 6066 section 3), as it was sent.
    package internal(set) var serverName: String?
    /// The protocols offered in ALPN (RFC 7301): `h2`, `http/1.1`.
    package internal(set) var applicationProtocols: [String] = []
    /// `supported_versions`; empty if the extension is missing.
    package internal(set) var supportedVersions: [ProtocolVersion] = []
    /// `supported_groups`, by number.
    package internal(set) var supportedGroups: [UInt16] = []
    /// The groups of `key_share`, by number.
    package internal(set) var keyShareGroups: [UInt16] = []
    /// `signature_algorithms`, by number.
    package internal(set) var signatureAlgorithms: [UInt16] = []
    /// `psk_key_exchange_modes`: 0 is `psk_ke`, 1 `psk_dhe_ke`.
    package internal(set) var pskKeyExchangeModes: [UInt8] = []
    /// Whether a session ticket (RFC 5077) is offered, not only support for tickets.
    package internal(set) var offersSessionTicket = false
    /// How many pre-shared keys are offered in TLS 1.3.
    package internal(set) var pskIdentityCount = 0
    /// Whether early data follows (RFC 8446 section 4.2.10).
    package internal(set) var offersEarlyData = false
    /// Whether encrypt-then-MAC is offered (RFC 7366).
    package internal(set) var offersEncryptThenMAC = false
    /// Whether the extended master secret is offered (RFC 7627).
    package internal(set) var offersExtendedMasterSecret = false
    /// Whether a certificate status is requested (RFC 6066 section 8).
    package internal(set) var requestsStatus = false
    /// The types of all extensions, in order.
    package private(set) var extensionTypes: [UInt16] = []

    /// Whether TLS 1.3 is among the versions offered.
    package var offersTLS13: Bool { supportedVersions.contains(.tls13) }

    /// Reads the body of a ClientHello message; nil if it is malformed.
    init?(_ body: ArraySlice<UInt8>) {
        var reader = ByteReader(body)
        guard let version = reader.u16(), version >> 8 == 3,
            let random = reader.bytes(ClientRandom.byteCount).flatMap({ ClientRandom($0) }),
            let sessionID = reader.vector(1), sessionID.count <= 32,
            let suites = reader.numbers(2), !suites.isEmpty,
            let compression = reader.vector(1), !compression.isEmpty,
            let extensions = HelloExtension.list(&reader)
        else { return nil }
        legacyVersion = ProtocolVersion(rawValue: version)
        self.random = random
        self.sessionID = Array(sessionID)
        cipherSuites = suites.filter { !HelloExtension.isGREASE($0) }.map { CipherSuite(rawValue: $0) }
        compressionMethods = Array(compression)
        for entry in extensions where !HelloExtension.isGREASE(entry.type) {
            guard take(entry) else { return nil }
            extensionTypes.append(entry.type)
        }
    }
}
