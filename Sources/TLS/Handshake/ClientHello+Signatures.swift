extension ClientHello {
    /// secp256r1 (RFC 8446 section 4.2.7).
    private static let secp256r1: UInt16 = 23
    /// ecdsa_secp256r1_sha256 (RFC 8446 section 4.2.3).
    private static let ecdsaP256SHA256: UInt16 = 0x0403
    /// The signature algorithm `ecdsa`, with any hash (RFC 5246 section 7.4.1.4.1).
    private static let ecdsa: UInt16 = 3

    /// Whether the client accepts a server that authenticates itself with a P-256 key in a version (RFC 8446 section 4.2.3; RFC 8422
    /// sections 2 and 5.1).
    package func acceptsP256(in version: ProtocolVersion) -> Bool {
        if version >= .tls13 {
            return signatureAlgorithms.isEmpty || signatureAlgorithms.contains(Self.ecdsaP256SHA256)
        }
        return cipherSuites.contains { $0.name.hasPrefix("TLS_ECDHE_ECDSA_") }
            && (supportedGroups.isEmpty || supportedGroups.contains(Self.secp256r1))
            && (version < .tls12 || signatureAlgorithms.isEmpty
                || signatureAlgorithms.contains { $0 & 0xff == Self.ecdsa })
    }
}
