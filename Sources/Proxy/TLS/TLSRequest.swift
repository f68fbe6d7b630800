import Streams
import TLS

/// A handshake that a layer asks for on one of its connection's two sockets.
struct TLSRequest: Hashable, Sendable {
    /// Which of the two.
    enum Leg: Hashable, Sendable {
        /// The client's socket, on which the proxy is the TLS server.
        case client
        /// The server's socket, on which the proxy is the TLS client.
        case server
    }

    var leg: Leg
    /// On the server's leg the name to send and to verify, on the client's the names that the certificate is for.
    var names: [String] = []
    /// The server's certificate in DER, whose names the one shown to the client has, too.
    var model: [UInt8]?
    /// The newest version to offer or to accept.
    var maximum = ProtocolVersion.tls13
    /// The protocols to offer, or the one that the server has chosen (ALPN, RFC 7301).
    var protocols: [String] = []
    /// Whether the client is asked for a certificate, as the server asked the proxy.
    var requestsCertificate = false
    /// The key with which the proxy authenticates itself to the client.
    var key = TLSOptions.KeyKind.ecdsa
}

/// The result of a handshake.
struct TLSOutcome: Hashable, Sendable {
    var version: ProtocolVersion?
    /// The name of the cipher suite, if it could be read from the ServerHello.
    var cipherSuite: String?
    /// The protocol that the server chose.
    var applicationProtocol: String?
    /// The certificate of the server, in DER.
    var certificate: [UInt8]?
    /// Whether the server requested a certificate.
    var requestsCertificate = false
    /// What both sides had sent on the socket when the handshake was over.
    var wire = PerDirection(fromClient: TLSFacts.Handshake(), fromServer: TLSFacts.Handshake())
}

/// Why a handshake failed.
struct TLSFault: Error, Hashable, Sendable {
    /// The reason, in words.
    var text: String
    /// The alert received from the other end (RFC 8446 section 6), if that was the reason.
    var alert: Alert?
    /// Whether it is the server's certificate that was not accepted.
    var isUnverified = false
    /// Whether the handshake could not begin: nothing was sent.
    var isBeforehand = false
}
