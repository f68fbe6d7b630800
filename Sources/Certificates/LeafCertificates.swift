import SwiftASN1
import X509

/// A certificate for a server, and that of the authority that signed it.
package struct Leaf: Sendable {
    /// What a server sends: its certificate and then the authority's, each in DER.
    package let chain: [[UInt8]]
    /// The names for which it is valid.
    package let names: [CertificateName]
    /// The last second of its validity.
    package let notAfter: CertificateTime
}

/// Issues certificates for servers. All have one private key, which exists only as long as this value: making keys takes time.
package struct LeafCertificates: Sendable {
    /// How long a certificate is valid: clients accept at most 200 days from authorities that come with the system (CA/Browser Forum, SC-081).
    static let days: Int64 = 199

    private let authority: CertificateAuthority
    private let key: LeafKey
    private let keyIdentifier: SubjectKeyIdentifier
    private let authorityKeyIdentifier: AuthorityKeyIdentifier

    /// Issues certificates that an authority signs.
    ///
    /// - Throws: `LeafError` if no key can be made.
    package init(of authority: CertificateAuthority, key kind: LeafKey.Kind = .p256) throws(LeafError) {
        self.authority = authority
        key = try LeafKey(kind)
        keyIdentifier = SubjectKeyIdentifier(hash: key.publicKey)
        let signer = authority.certificate.keyIdentifier
        authorityKeyIdentifier = AuthorityKeyIdentifier(keyIdentifier: signer.keyIdentifier)
    }

    /// The private key of all certificates in DER: PKCS#8, or PKCS#1 for RSA.
    package var privateKeyDER: [UInt8] { key.der }
    /// The private key of all certificates: PKCS#8 in PEM.
    package var privateKeyPEM: String { key.pem + "\n" }

    /// Issues a certificate for DNS names or addresses.
    package func issue(for names: [String], now: CertificateTime) throws(LeafError) -> Leaf {
        try issue(LeafRequest(names: names), now: now)
    }

    /// Issues a certificate with the subject and the names of a server's own certificate, and with these names.
    package func issue(like server: [UInt8], names: [String], now: CertificateTime) throws(LeafError) -> Leaf {
        try issue(LeafRequest(like: server, names: names), now: now)
    }

    /// Issues a certificate.
    package func issue(_ request: LeafRequest, now: CertificateTime) throws(LeafError) -> Leaf {
        let issuer = authority.certificate
        guard now <= issuer.notAfter else { throw LeafError.expired(issuer.notAfter) }
        // Clients' clocks may be behind.
        let notBefore = max(now.adding(days: -2), issuer.notBefore)
        let notAfter = min(notBefore.adding(days: Self.days), issuer.notAfter)
        do {
            let subject = try subject(of: request)
            let certificate = try Certificate(
                version: .v3, serialNumber: .random127(), publicKey: key.publicKey,
                notValidBefore: notBefore.date, notValidAfter: notAfter.date,
                issuer: issuer.certificate.subject, subject: subject,
                extensions: try extensions(request, hasSubject: !subject.isEmpty),
                issuerPrivateKey: authority.key)
            var serializer = DER.Serializer()
            try serializer.serialize(certificate)
            return Leaf(chain: [serializer.serializedBytes, issuer.der], names: request.names, notAfter: notAfter)
        } catch {
            throw LeafError.failed("\(error)")
        }
    }

    private func subject(of request: LeafRequest) throws -> DistinguishedName {
        guard let commonName = request.commonName else { return DistinguishedName() }
        let subject = try DistinguishedName { CommonName(commonName) }
        // A certificate whose subject is its issuer would be taken for the authority's own.
        return subject == authority.certificate.certificate.subject ? DistinguishedName() : subject
    }

    private func extensions(_ request: LeafRequest, hasSubject: Bool) throws -> Certificate.Extensions {
        let names = try Certificate.Extension(
            SubjectAlternativeNames(request.names.map(\.generalName)),
            // Nothing else says whose certificate it is (RFC 5280 section 4.2.1.6).
            critical: !hasSubject)
        return try Certificate.Extensions {
            Critical(BasicConstraints.notCertificateAuthority)
            // Without ECDHE, the client encrypts to the key (RFC 5246 section 7.4.2).
            Critical(KeyUsage(digitalSignature: true, keyEncipherment: key.kind == .rsa))
            try ExtendedKeyUsage([.serverAuth])
            names
            keyIdentifier
            authorityKeyIdentifier
        }
    }
}
