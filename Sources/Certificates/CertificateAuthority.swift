import Crypto
import SwiftASN1
import X509

/// A certificate authority: its certificate, which clients must trust, and its private key, which signs certificates for servers.
package struct CertificateAuthority: Sendable {
    /// The certificate, without the key.
    package let certificate: AuthorityCertificate
    let key: Certificate.PrivateKey

    /// Reads an authority from the PEM text of its certificate and of its key.
    package init(certificatePEM: String, keyPEM: String, now: CertificateTime) throws(AuthorityError) {
        certificate = try AuthorityCertificate(pem: certificatePEM)
        try certificate.check(at: now)
        key = try Self.key(pem: keyPEM)
        guard key.publicKey == certificate.certificate.publicKey else {
            throw AuthorityError(
                .key,
                "does not belong to the certificate of \(certificate.subject); expected the key that it was made with")
        }
    }

    private init(_ certificate: AuthorityCertificate, _ key: Certificate.PrivateKey) {
        self.certificate = certificate
        self.key = key
    }

    /// A new authority: a P-256 key and a certificate that it signs itself, valid for 10 years.
    ///
    /// - Parameter label: what tells it from others in a list of authorities, such as the host's name; by default random digits.
    package static func create(label: String? = nil, now: CertificateTime) throws -> CertificateAuthority {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let digits = String(UInt32.random(in: 0x1000_0000 ... .max), radix: 16)
        // A common name has at most 64 characters (RFC 5280 appendix A).
        let label = label.map { String($0.filter { $0.isASCII && !$0.isWhitespace }.prefix(50)) } ?? ""
        let name = try DistinguishedName {
            OrganizationName("frametap")
            CommonName("frametap CA \(label.isEmpty ? digits : label)")
        }
        let certificate = try Certificate(
            version: .v3, serialNumber: .random127(), publicKey: key.publicKey,
            // Clients' clocks may be behind.
            notValidBefore: now.adding(days: -2).date, notValidAfter: now.adding(days: 3_652).date,
            issuer: name, subject: name,
            extensions: try Certificate.Extensions {
                // It signs certificates of servers, never of other authorities.
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                SubjectKeyIdentifier(hash: key.publicKey)
            },
            issuerPrivateKey: key)
        return CertificateAuthority(try AuthorityCertificate(certificate), key)
    }

    /// The certificate in PEM.
    package var certificatePEM: String { certificate.pem }
    /// The private key in PEM: PKCS#8.
    package var keyPEM: String {
        get throws { try key.serializeAsPEM().pemString + "\n" }
    }
    /// Whom the certificate names.
    package var subject: String { certificate.subject }
    /// Recognizes the certificate.
    package var fingerprint: Fingerprint { certificate.fingerprint }
    /// The last second of the certificate's validity.
    package var notAfter: CertificateTime { certificate.notAfter }

    private static let encrypted =
        "is encrypted with a passphrase; expected it without: openssl pkey -in ENCRYPTED -out PLAIN"

    private static func key(pem: String) throws(AuthorityError) -> Certificate.PrivateKey {
        // The older way to encrypt a key has headers, which are not read as PEM.
        if pem.contains("Proc-Type: 4,ENCRYPTED") { throw AuthorityError(.key, encrypted) }
        let documents = try PEMFile.documents(of: pem, .key)
        if documents.contains(where: { $0.discriminator == "ENCRYPTED PRIVATE KEY" }) {
            throw AuthorityError(.key, encrypted)
        }
        // Some files have EC PARAMETERS or the certificate before the key.
        guard let document = documents.first(where: { KeyKind.readable.contains($0.discriminator) }) else {
            let kinds = Set(documents.map(\.discriminator)).sorted().joined(separator: ", ")
            throw AuthorityError(.key, "has no PRIVATE KEY, only \(kinds); expected the key of the certificate")
        }
        do {
            return try Certificate.PrivateKey(pemDocument: document)
        } catch {
            throw AuthorityError(.key, "is damaged or of a kind that is not supported; expected \(KeyKind.expected)")
        }
    }
}

extension Certificate.SerialNumber {
    /// 127 random bits, but for a first byte of zero: positive, always in 16 bytes, and never the same twice.
    static func random127() -> Certificate.SerialNumber {
        let bytes = [UInt8.random(in: 1...0x7f)] + (1..<16).map { _ in UInt8.random(in: 0...0xff) }
        return Certificate.SerialNumber(bytes: bytes)
    }
}
