import Crypto
import CryptoExtras
import X509

/// The private key that servers' certificates are for.
package struct LeafKey: Sendable {
    /// The kinds of such keys.
    package enum Kind: Hashable, Sendable, CaseIterable {
        /// ECDSA with P-256, which handshakes are fastest with.
        case p256
        /// RSA with 2,048 bits, for clients that verify nothing else.
        case rsa
    }

    let kind: Kind
    /// PKCS#8, for RSA PKCS#1 (RFC 8017 appendix A.1.2), in DER.
    let der: [UInt8]
    /// PKCS#8 in PEM.
    let pem: String
    let publicKey: Certificate.PublicKey

    /// Makes a key. One for RSA takes about 100 ms.
    init(_ kind: Kind) throws(LeafError) {
        self.kind = kind
        switch kind {
        case .p256:
            let key = P256.Signing.PrivateKey()
            (der, pem, publicKey) = (Array(key.derRepresentation), key.pemRepresentation, .init(key.publicKey))
        case .rsa:
            do {
                let key = try _RSA.Signing.PrivateKey(keySize: .bits2048)
                let pem = key.pkcs8PEMRepresentation
                (der, self.pem, publicKey) = (Array(key.derRepresentation), pem, .init(key.publicKey))
            } catch {
                throw LeafError.failed("\(error)")
            }
        }
    }
}
