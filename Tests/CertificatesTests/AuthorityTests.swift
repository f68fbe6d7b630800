import Certificates
import Crypto
import CryptoExtras
import SwiftASN1
import Testing
import X509

/// Making an authority, and reading those that people supply.
@Suite struct AuthorityTests {
    @Test func aNewAuthority() throws {
        let authority = try CertificateAuthority.create(label: "laptop", now: now)
        let certificate = try Certificate(pemEncoded: authority.certificatePEM)
        #expect(authority.subject == "CN=frametap CA laptop,O=frametap")
        #expect(
            authority.certificate.notBefore == now.adding(days: -2) && authority.notAfter == now.adding(days: 3_652))
        #expect(certificate.issuer == certificate.subject && certificate.version == .v3)
        #expect(certificate.publicKey.isValidSignature(certificate.signature, for: certificate))
        let extensions = certificate.extensions
        #expect(try extensions.basicConstraints == .isCertificateAuthority(maxPathLength: 0))
        #expect(try extensions.keyUsage == KeyUsage(keyCertSign: true, cRLSign: true))
        #expect(try extensions.subjectKeyIdentifier == SubjectKeyIdentifier(hash: certificate.publicKey))
        #expect(extensions[oid: .X509ExtensionID.basicConstraints]?.critical == true)
        #expect(extensions[oid: .X509ExtensionID.keyUsage]?.critical == true)
        #expect(P256.Signing.PublicKey(certificate.publicKey) != nil)
    }

    @Test(arguments: [
        ("laptop.example", "laptop.example"), ("a b\n日c", "abc"),
        (String(repeating: "x", count: 300), String(repeating: "x", count: 50)),
    ])
    func labels(label: String, written: String) throws {
        let authority = try CertificateAuthority.create(label: label, now: now)
        #expect(authority.subject == "CN=frametap CA \(written),O=frametap")
    }

    @Test(arguments: [nil, "", "日本"]) func withoutALabelItHasDigits(label: String?) throws {
        let subjects = try (0..<20).map { _ in try CertificateAuthority.create(label: label, now: now).subject }
        #expect(Set(subjects).count == 20)
        #expect(subjects.allSatisfy { $0.utf8.count == "CN=frametap CA 12345678,O=frametap".utf8.count })
    }

    @Test func itIsReadAsItWasWritten() async throws {
        let made = try CertificateAuthority.create(now: now)
        let read = try CertificateAuthority(certificatePEM: made.certificatePEM, keyPEM: made.keyPEM, now: now)
        #expect(try read.certificatePEM == made.certificatePEM && read.keyPEM == made.keyPEM)
        #expect(read.fingerprint == made.fingerprint && read.certificatePEM.hasSuffix("-----END CERTIFICATE-----\n"))
        #expect(read.fingerprint.description == hexadecimal(SHA256.hash(data: made.certificate.der)))
        let leaf = try LeafCertificates(of: read).issue(for: ["example.org"], now: now)
        #expect(try await verdict(on: leaf, for: "example.org", trusting: made).hasPrefix("valid"))
    }

    private func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
        bytes.map { byte in
            let digits = String(byte, radix: 16).uppercased()
            return digits.count == 1 ? "0" + digits : digits
        }.joined(separator: ":")
    }

    static let kinds = ["P-256", "P-384", "P-521", "RSA 2048"]

    private func key(_ kind: String) throws -> Certificate.PrivateKey {
        switch kind {
        case "P-256": .init(P256.Signing.PrivateKey())
        case "P-384": .init(P384.Signing.PrivateKey())
        case "P-521": .init(P521.Signing.PrivateKey())
        default: .init(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        }
    }

    @Test(arguments: kinds) func keysOfCompanies(kind: String) async throws {
        let authority = try MadeCertificate.authority(key: key(kind)).authority()
        let leaf = try LeafCertificates(of: authority).issue(for: ["example.org"], now: now)
        #expect(try await verdict(on: leaf, for: "example.org", trusting: authority) == "valid, 2 certificates")
    }

    /// Files as mitmproxy and OpenSSL write them: the key and the certificate in one, text and parameters before them.
    @Test func otherPartsOfAFileAreSkipped() throws {
        let made = try CertificateAuthority.create(now: now)
        let parameters = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n"
        let file = "some text\n" + parameters + (try made.keyPEM) + made.certificatePEM
        let read = try CertificateAuthority(certificatePEM: file, keyPEM: file, now: now)
        #expect(read.fingerprint == made.fingerprint)
        let lines = file.replacing("\n", with: "\r\n")
        #expect(
            try CertificateAuthority(certificatePEM: lines, keyPEM: lines, now: now).fingerprint == made.fingerprint)
    }
}
