/// The labels of an NSS key log that are read (RFC 9850 section 2; `CLIENT_RANDOM`: section 2.2).
package enum KeyLogLabel: String, Sendable, CaseIterable {
    /// The master secret of TLS 1.2 and earlier.
    case clientRandom = "CLIENT_RANDOM"
    /// `client_early_traffic_secret` of TLS 1.3.
    case clientEarlyTrafficSecret = "CLIENT_EARLY_TRAFFIC_SECRET"
    /// `client_handshake_traffic_secret` of TLS 1.3.
    case clientHandshakeTrafficSecret = "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
    /// `server_handshake_traffic_secret` of TLS 1.3.
    case serverHandshakeTrafficSecret = "SERVER_HANDSHAKE_TRAFFIC_SECRET"
    /// `client_application_traffic_secret_0` of TLS 1.3.
    case clientTrafficSecret0 = "CLIENT_TRAFFIC_SECRET_0"
    /// `server_application_traffic_secret_0` of TLS 1.3.
    case serverTrafficSecret0 = "SERVER_TRAFFIC_SECRET_0"

    /// How many bytes the secret may have: 48 for a master secret (RFC 5246 section 8.1), else as many as the hash has.
    func allows(_ byteCount: Int) -> Bool {
        self == .clientRandom ? byteCount == 48 : byteCount == 32 || byteCount == 48
    }
}
