import SwiftASN1
import X509

/// The certificate of an authority, without its key: what clients must trust.
package struct AuthorityCertificate: Sendable {
    let certificate: Certificate
    /// The certificate in DER.
    package let der: [UInt8]

    /// Reads the first certificate of a PEM file.
    package init(pem: String) throws(AuthorityError) {
        let documents = try PEMFile.documents(of: pem, .certificate)
        guard let document = documents.first(where: { $0.discriminator == Certificate.defaultPEMDiscriminator }) else {
            let kinds = Set(documents.map(\.discriminator)).sorted().joined(separator: ", ")
            throw AuthorityError(.certificate, "has no CERTIFICATE, only \(kinds); expected the certificate of a CA")
        }
        guard let certificate = try? Certificate(derEncoded: document.derBytes) else {
            throw AuthorityError(
                .certificate,
                "is PEM, but no X.509 certificate with a key of a known kind; expected the certificate of a CA")
        }
        if let flaw = Self.flaw(of: certificate) { throw AuthorityError(.certificate, flaw) }
        self.certificate = certificate
        der = document.derBytes
    }

    init(_ certificate: Certificate) throws {
        self.certificate = certificate
        var serializer = DER.Serializer()
        try serializer.serialize(certificate)
        der = serializer.serializedBytes
    }

    /// Why clients would not accept certificates that it signed.
    private static func flaw(of certificate: Certificate) -> String? {
        guard case .isCertificateAuthority = try? certificate.extensions.basicConstraints else {
            return "is not a CA's: it does not say CA:TRUE, and clients reject what it signs; "
                + "expected a CA, such as frametap ca create makes"
        }
        if let usage = try? certificate.extensions.keyUsage, !usage.keyCertSign {
            return "is a CA's that may not sign certificates (key usage keyCertSign); expected one that may"
        }
        return KeyKind.flaw(of: certificate.publicKey)
    }

    /// Fails if the certificate is not valid at an instant.
    package func check(at now: CertificateTime) throws(AuthorityError) {
        if notAfter < now {
            throw AuthorityError(
                .certificate, "expired at \(notAfter); expected a valid one: frametap ca create --force")
        }
        if now < notBefore {
            throw AuthorityError(.certificate, "is not valid until \(notBefore); is this machine's clock right?")
        }
    }

    /// The certificate in PEM, a line at its end.
    package var pem: String {
        PEMDocument(type: Certificate.defaultPEMDiscriminator, derBytes: der).pemString + "\n"
    }

    /// Whom it names: `CN=frametap CA laptop,O=frametap`.
    package var subject: String { String(describing: certificate.subject) }
    /// Recognizes the certificate.
    package var fingerprint: Fingerprint { Fingerprint(of: der) }
    /// When it becomes valid.
    package var notBefore: CertificateTime { CertificateTime(certificate.notValidBefore) }
    /// The last second of its validity.
    package var notAfter: CertificateTime { CertificateTime(certificate.notValidAfter) }

    /// What certificates that it signs name as the identifier of its key.
    var keyIdentifier: SubjectKeyIdentifier {
        (try? certificate.extensions.subjectKeyIdentifier) ?? SubjectKeyIdentifier(hash: certificate.publicKey)
    }
}
