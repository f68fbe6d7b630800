import SwiftASN1
import X509

/// What people want to know about a certificate. All texts are the certificate's, which anyone may have made.
package struct CertificateSummary: Hashable, Sendable {
    /// Whom it names: `CN=example.org,O=Example`; empty if it only has names.
    package let subject: String
    /// Who signed it.
    package let issuer: String
    /// The subject's common name.
    package let commonName: String?
    /// The DNS names and addresses for which it is valid, as written there.
    package let names: [String]
    /// When it becomes valid.
    package let notBefore: CertificateTime
    /// The last second of its validity.
    package let notAfter: CertificateTime
    /// Recognizes the certificate.
    package let fingerprint: Fingerprint
    /// Whether its own key signed it. If its key is of a kind that cannot be verified: whether it names itself as its issuer.
    package let isSelfSigned: Bool

    /// Reads a certificate; nil if these bytes are not one, or not one that can be read.
    package init?(der: [UInt8]) {
        guard let fields = try? CertificateFields(der: der) else { return nil }
        subject = String(describing: fields.subject)
        issuer = String(describing: fields.issuer)
        commonName = fields.commonName
        names = fields.names.compactMap(Self.text)
        notBefore = fields.notBefore
        notAfter = fields.notAfter
        fingerprint = Fingerprint(of: der)
        isSelfSigned = fields.subject == fields.issuer && Self.hasOwnSignature(der)
    }

    private static func hasOwnSignature(_ der: [UInt8]) -> Bool {
        guard let certificate = try? Certificate(derEncoded: der) else { return true }
        return certificate.publicKey.isValidSignature(certificate.signature, for: certificate)
    }

    private static func text(of name: GeneralName) -> String? {
        switch name {
        case .dnsName(let name): name
        case .ipAddress: CertificateName(copied: name).map(\.description)
        default: nil
        }
    }
}
