import Certificates
import Crypto
import Foundation
import SwiftASN1
import Testing
@_spi(FixedExpiryValidationTime) import X509

/// 2026-11-22T10:00:00Z.
let now = CertificateTime(seconds: 1_795_341_600)

/// A certificate with its key, as anyone may make one.
struct MadeCertificate {
    let certificate: Certificate
    let key: Certificate.PrivateKey

    /// Signs it itself.
    init(
        _ subject: DistinguishedName, key: Certificate.PrivateKey = .init(P256.Signing.PrivateKey()),
        from: CertificateTime = now.adding(days: -1), to: CertificateTime = now.adding(days: 90),
        @ExtensionsBuilder extensions: () throws -> Result<Certificate.Extensions, any Error>
    ) throws {
        self.key = key
        certificate = try Certificate(
            version: .v3, serialNumber: .init(), publicKey: key.publicKey,
            notValidBefore: Date(timeIntervalSince1970: Double(from.seconds)),
            notValidAfter: Date(timeIntervalSince1970: Double(to.seconds)),
            issuer: subject, subject: subject, extensions: try Certificate.Extensions(builder: extensions),
            issuerPrivateKey: key)
    }

    /// A CA with this key.
    static func authority(
        key: Certificate.PrivateKey, from: CertificateTime = now.adding(days: -1),
        to: CertificateTime = now.adding(days: 90)
    ) throws -> MadeCertificate {
        try MadeCertificate(DistinguishedName { CommonName("Company CA") }, key: key, from: from, to: to) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
        }
    }

    var pem: String { get throws { try certificate.serializeAsPEM().pemString + "\n" } }
    var keyPEM: String { get throws { try key.serializeAsPEM().pemString + "\n" } }
    var der: [UInt8] { get throws { try certificate.serializeAsPEM().derBytes } }

    func authority() throws -> CertificateAuthority {
        try CertificateAuthority(certificatePEM: pem, keyPEM: keyPEM, now: now)
    }
}

extension Leaf {
    /// The server's certificate.
    func certificate() throws -> Certificate { try Certificate(derEncoded: try #require(chain.first)) }

    /// Its names in the order in which the certificate has them.
    func writtenNames() throws -> [String] {
        let server = try #require(chain.first)
        return try #require(CertificateSummary(der: server)).names
    }
}

/// Whether a client that trusts an authority accepts a certificate for a host; else why not.
func verdict(
    on leaf: Leaf, for host: String, trusting authority: CertificateAuthority, at time: CertificateTime = now
) async throws -> String {
    let root = try Certificate(pemEncoded: authority.certificatePEM)
    let isAddress = host.contains(":") || host.allSatisfy { $0.isNumber || $0 == "." }
    var verifier = Verifier(rootCertificates: CertificateStore([root])) {
        RFC5280Policy(fixedExpiryValidationTime: Date(timeIntervalSince1970: Double(time.seconds)))
        ServerIdentityPolicy(serverHostname: isAddress ? nil : host, serverIP: isAddress ? host : nil)
    }
    switch await verifier.validate(leaf: try leaf.certificate(), intermediates: CertificateStore()) {
    case .validCertificate(let chain): return "valid, \(chain.count) certificates"
    case .couldNotValidate(let failures): return failures.map { "\($0.policyFailureReason)" }.joined(separator: "; ")
    }
}
