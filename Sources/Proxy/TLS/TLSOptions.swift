import Framing
import Streams
import TLS

/// How the proxy treats TLS.
package struct TLSOptions: Sendable {
    /// What the proxy does with TLS.
    package enum Mode: String, Sendable, CaseIterable {
        /// Relays it untouched.
        case pass
        /// Decrypts it, and encrypts it anew to the server. A client that does not begin with a ClientHello is relayed as it is.
        case intercept
        /// Clients speak plaintext, the server TLS.
        case client
        /// Clients speak TLS, the server plaintext.
        case server
    }

    /// Which certificate authorities servers are verified against.
    package enum Trust: Hashable, Sendable {
        /// The system's.
        case system
        /// Those in a file of PEM certificates.
        case file(String)
        /// These, in DER.
        case certificates([[UInt8]])
        /// None: any certificate is accepted.
        case nothing
    }

    /// Files in PEM with a certificate chain and its private key.
    package struct IdentityFiles: Hashable, Sendable {
        /// The file with the chain, leaf first.
        package var certificates: String
        /// The file with the key; it may be the same one.
        package var key: String

        /// Files with an identity.
        package init(certificates: String, key: String) { (self.certificates, self.key) = (certificates, key) }
    }

    /// A certificate chain and its private key.
    package struct Identity: Sendable {
        /// The certificates in DER, leaf first.
        package var certificates: [[UInt8]]
        /// The private key in DER (PKCS #8 or SEC 1).
        package var key: [UInt8]

        /// An identity.
        package init(certificates: [[UInt8]], key: [UInt8]) { (self.certificates, self.key) = (certificates, key) }
    }

    /// The kinds of keys with which the proxy authenticates itself to clients.
    package enum KeyKind: Hashable, Sendable {
        /// ECDSA with P-256.
        case ecdsa
        /// RSA, for clients that do not offer ECDSA.
        case rsa
    }

    /// How long a handshake may take, in seconds.
    package var handshakeTimeout = 10.0
    /// What the proxy does.
    package var mode = Mode.pass
    /// The name that servers are sent, and verified by; nil: the one that the client sends, or the host connected to.
    package var serverName: String?
    /// Which authorities servers are verified against.
    package var trust = Trust.system
    /// The identity that servers are shown if they request one.
    package var clientIdentity: IdentityFiles?
    /// The oldest version accepted on either side.
    package var minimum = ProtocolVersion.tls12
    /// Servers whose TLS is relayed untouched.
    package var ignoredHosts: [HostPattern] = []
    /// The connections' format, if it says where they change to TLS; nil: TLS is only looked for at their beginning.
    package var upgrading: Format?
    /// Issues the identity shown to clients: for the name that they ask for, or the server's host, and for the names of the
    /// server's certificate (in DER), if it has shown one. Called on event loops.
    package var identity: (@Sendable (_ names: [String], _ server: [UInt8]?, _ key: KeyKind) throws -> Identity)?
    /// Says why there is no identity for a name that a client asks for; nil if there is one.
    package var nameFlaw: (@Sendable (String) -> String?)?
    /// Reads a certificate in DER, for traces.
    package var describe: (@Sendable ([UInt8]) -> TLSFacts.Certificate?)?
    /// Says why a certificate in DER is not accepted for a name.
    package var explain: (@Sendable (_ certificate: [UInt8], _ name: String?) -> String?)?
    /// Receives the secrets of every handshake, as lines of an NSS key log. Called on event loops.
    package var keyLog: (@Sendable (_ line: [UInt8]) -> Void)?

    /// TLS is relayed untouched.
    package init() {}
}
