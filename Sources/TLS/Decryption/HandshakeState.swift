/// What both directions know of the handshake.
struct HandshakeState: Sendable {
    /// What client and server agreed on.
    struct Agreement: Sendable {
        let clientRandom: ClientRandom
        let serverRandom: [UInt8]
        let sessionID: [UInt8]
        let version: ProtocolVersion
        let suite: CipherSuite
        let usesEncryptThenMAC: Bool
    }

    /// What becomes of the client's early data.
    enum EarlyData: Sendable {
        case none, undecided, accepted, rejected, unknown
    }

    /// The last ClientHello, until its ServerHello comes.
    var pending: ClientHello?
    /// The last ClientHello.
    var clientHello: ClientHello?
    /// The handshake whose ServerHello was seen last.
    var agreed: Agreement?
    /// What is reported once the next message tells the rest of it.
    var negotiation: Negotiation?
    var earlyData = EarlyData.none
    var isRetried = false
    var isClientHelloLost = false
    var isServerHelloLost = false
    /// The suite is not decrypted here.
    var isUnsupported = false
    /// For which random missing keys were reported.
    var missingKeys: ClientRandom?

    var isTLS13: Bool { agreed?.version == .tls13 || (agreed == nil && isRetried) }
}
