import Certificates
import Crypto
import Foundation
import Streams
import SwiftASN1
import Testing
import X509

/// What is shown of any certificate.
@Suite struct SummaryTests {
    @Test func aServersCertificate() throws {
        let authority = try CertificateAuthority.create(label: "x", now: now)
        let leaf = try LeafCertificates(of: authority).issue(for: ["example.org", "::1", "10.0.0.1"], now: now)
        let summary = try #require(CertificateSummary(der: leaf.chain[0]))
        #expect(summary.subject == "CN=example.org" && summary.commonName == "example.org")
        #expect(summary.issuer == "CN=frametap CA x,O=frametap" && !summary.isSelfSigned)
        #expect(summary.names == ["example.org", "::1", "10.0.0.1"])
        #expect(summary.notBefore == now.adding(days: -2) && summary.notAfter == now.adding(days: 197))
        let root = try #require(CertificateSummary(der: leaf.chain[1]))
        #expect(root.isSelfSigned && root.names.isEmpty && root.fingerprint == authority.fingerprint)
    }

    /// Named like its issuer, but signed by another key.
    @Test func aFalseSelfSignature() throws {
        let name = try DistinguishedName { CommonName("x") }
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let certificate = try Certificate(
            version: .v3, serialNumber: 1, publicKey: Certificate.PublicKey(P256.Signing.PrivateKey().publicKey),
            notValidBefore: .init(timeIntervalSince1970: -62_135_596_800),
            notValidAfter: .init(timeIntervalSince1970: 253_402_300_799),
            issuer: name, subject: name, extensions: .init(), issuerPrivateKey: key)
        let summary = try #require(CertificateSummary(der: certificate.serializeAsPEM().derBytes))
        #expect(!summary.isSelfSigned)
        #expect(summary.notAfter.description == "9999-12-31T23:59:59Z")
        #expect(summary.notBefore.description == "0001-01-01T00:00:00Z")
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (4_107_542_399, "2100-02-28T23:59:59Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
    ])
    func times(seconds: Int, text: String) {
        #expect(CertificateTime(seconds: Int64(seconds)).description == text)
    }

    @Test func timestamps() {
        let time = CertificateTime(Timestamp(nanoseconds: 1_795_341_600_999_999_999))
        #expect(time == now && time.description == "2026-11-22T10:00:00Z")
        #expect(CertificateTime(Timestamp(nanoseconds: -1)).seconds == -1)
        #expect(CertificateTime(Timestamp(nanoseconds: .min)).seconds == -9_223_372_037)
        #expect(CertificateTime(.distantFuture).seconds == 9_223_372_036)
    }

    @Test(arguments: [[], [0x30], [0x30, 0], [0x30, 0x80, 0, 0], [0x30, 2, 5, 0], [0x02, 1, 1]] as [[UInt8]])
    func whatIsNoCertificateHasNone(bytes: [UInt8]) {
        #expect(CertificateSummary(der: bytes) == nil)
    }

    /// Certificates come from servers, which may send anything: every byte is changed, and every length is cut.
    @Test func damagedCertificatesDoNotCrash() throws {
        let leaves = try LeafCertificates(of: try CertificateAuthority.create(now: now))
        let good = try leaves.issue(for: ["example.org", "10.0.0.1"], now: now).chain[0]
        var read = 0
        for index in good.indices {
            _ = CertificateSummary(der: Array(good[..<index]))
            for byte in [0, 1, 0x30, 0x7f, 0x80, 0x84, 0xff, good[index] ^ 0x20] as [UInt8] {
                var bytes = good
                bytes[index] = byte
                if CertificateSummary(der: bytes) != nil { read += 1 }
                _ = try LeafRequest(like: bytes, names: ["a.example"])
            }
        }
        #expect(read > good.count)
    }
}
