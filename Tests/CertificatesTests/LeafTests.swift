import Certificates
import Crypto
import Streams
import SwiftASN1
import Testing
import X509

/// What the authority issues, and who accepts it.
@Suite struct LeafTests {
    private let authority: CertificateAuthority
    private let leaves: LeafCertificates

    init() throws {
        authority = try CertificateAuthority.create(label: "test", now: now)
        leaves = try LeafCertificates(of: authority)
    }

    @Test(arguments: ["example.org", "EXAMPLE.org.", "127.0.0.1", "::1", "[2001:DB8::1]", "fe80::1%eth0", "a-b.local"])
    func clientsAcceptIt(name: String) async throws {
        let leaf = try leaves.issue(for: [name], now: now)
        let host = try #require(leaf.names.first).description
        #expect(try await verdict(on: leaf, for: host, trusting: authority) == "valid, 2 certificates")
        let other = try await verdict(on: leaf, for: "other.example", trusting: authority)
        #expect(!other.hasPrefix("valid"))
        #expect(leaf.chain.count == 2 && leaf.chain.last == authority.certificate.der)
    }

    @Test func anotherAuthorityOfTheSameNameDoesNotVouchForIt() async throws {
        let other = try CertificateAuthority.create(label: "test", now: now)
        let leaf = try leaves.issue(for: ["example.org"], now: now)
        #expect(other.subject == authority.subject)
        #expect(try await !verdict(on: leaf, for: "example.org", trusting: other).hasPrefix("valid"))
    }

    @Test func itIsValidForAShortTime() async throws {
        let leaf = try leaves.issue(for: ["example.org"], now: now)
        let certificate = try leaf.certificate()
        let summary = try #require(CertificateSummary(der: leaf.chain[0]))
        #expect(summary.notBefore == now.adding(days: -2) && summary.notAfter == now.adding(days: 197))
        #expect(leaf.notAfter == summary.notAfter && certificate.notValidAfter > certificate.notValidBefore)
        for (day, isValid) in [(-3, false), (-1, true), (196, true), (198, false)] {
            let verdict = try await verdict(
                on: leaf, for: "example.org", trusting: authority, at: now.adding(days: Int64(day)))
            #expect(verdict.hasPrefix("valid") == isValid, "day \(day): \(verdict)")
        }
    }

    @Test func itIsNeverValidLongerThanTheAuthority() throws {
        let short = try MadeCertificate.authority(key: .init(P256.Signing.PrivateKey())).authority()
        let leaf = try LeafCertificates(of: short).issue(for: ["example.org"], now: now)
        let summary = try #require(CertificateSummary(der: leaf.chain[0]))
        #expect(summary.notBefore == now.adding(days: -1) && summary.notAfter == short.notAfter)
        #expect(throws: LeafError.expired(short.notAfter)) {
            try LeafCertificates(of: short).issue(for: ["example.org"], now: now.adding(days: 91))
        }
    }

    @Test func whatItIsFor() throws {
        let leaf = try leaves.issue(for: ["example.org", "10.0.0.1", "example.org"], now: now)
        let certificate = try leaf.certificate()
        let extensions = certificate.extensions
        #expect(try extensions.basicConstraints == .notCertificateAuthority)
        #expect(try extensions.keyUsage == KeyUsage(digitalSignature: true))
        #expect(try extensions.extendedKeyUsage == ExtendedKeyUsage([.serverAuth]))
        let root = try Certificate(pemEncoded: authority.certificatePEM)
        let identifier = try #require(try root.extensions.subjectKeyIdentifier)
        #expect(try extensions.authorityKeyIdentifier?.keyIdentifier == identifier.keyIdentifier)
        #expect(try extensions.subjectKeyIdentifier == SubjectKeyIdentifier(hash: certificate.publicKey))
        #expect(certificate.version == .v3 && certificate.issuer == root.subject)
        #expect(try leaf.writtenNames() == ["example.org", "10.0.0.1"])
        #expect(extensions[oid: .X509ExtensionID.subjectAlternativeName]?.critical == false)
    }

    @Test func serialNumbersArePositiveAndDiffer() throws {
        let numbers = try (0..<200).map { _ in
            try leaves.issue(for: ["example.org"], now: now).certificate().serialNumber.bytes
        }
        #expect(Set(numbers).count == 200)
        #expect(numbers.allSatisfy { $0.count == 16 && (1..<0x80).contains($0.first ?? 0) })
    }

    /// A common name has at most 64 characters; without a subject, clients must understand the names.
    @Test func aLongNameIsInTheNamesOnly() async throws {
        let name = Array(repeating: String(repeating: "a", count: 30), count: 4).joined(separator: ".")
        let leaf = try leaves.issue(for: [name], now: now)
        let certificate = try leaf.certificate()
        #expect(certificate.subject.isEmpty)
        #expect(certificate.extensions[oid: .X509ExtensionID.subjectAlternativeName]?.critical == true)
        #expect(try await verdict(on: leaf, for: name, trusting: authority).hasPrefix("valid"))
    }

    @Test func aSubjectIsNeverTheAuthoritys() throws {
        let made = try MadeCertificate.authority(key: .init(P256.Signing.PrivateKey()))
        let leaves = try LeafCertificates(of: try made.authority())
        let leaf = try leaves.issue(like: made.der, names: ["example.org"], now: now)
        #expect(try leaf.certificate().subject.isEmpty)
    }

    @Test func theKeyIsThatOfTheCertificate() throws {
        let leaf = try leaves.issue(for: ["example.org"], now: now)
        let key = try P256.Signing.PrivateKey(derRepresentation: leaves.privateKeyDER)
        #expect(Certificate.PublicKey(key.publicKey) == (try leaf.certificate().publicKey))
        #expect(
            try P256.Signing.PrivateKey(pemRepresentation: leaves.privateKeyPEM).rawRepresentation
                == key.rawRepresentation)
    }

    /// Printed, not expected: machines differ.
    @Test func howLongItTakes() throws {
        let clock = ContinuousClock()
        let took = try clock.measure {
            for number in 0..<500 { _ = try leaves.issue(for: ["host\(number).example.org"], now: now) }
        }
        print("issued 500 certificates, \(took / 500) each")
    }
}
