import Crypto
import X509

/// The kinds of keys that an authority may have: those whose signatures all TLS clients verify.
enum KeyKind {
    static let expected = "P-256, P-384, P-521, or RSA with at least 2048 bits"

    /// What is wrong with a certificate's public key.
    static func flaw(of key: Certificate.PublicKey) -> String? {
        if Curve25519.Signing.PublicKey(key) != nil {
            return "has an Ed25519 key, whose signatures many clients do not verify; expected \(expected)"
        }
        return nil
    }

    /// The kinds of PEM documents with a private key that can be read.
    static let readable: Set<String> = ["PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY"]
}
