import Certificates
import Crypto
import SwiftASN1
import Testing
import X509

/// Certificates that say what a server's own one says.
@Suite struct CopiedLeafTests {
    private let leaves: LeafCertificates
    private let authority: CertificateAuthority

    init() throws {
        authority = try CertificateAuthority.create(now: now)
        leaves = try LeafCertificates(of: authority)
    }

    private func server(_ commonName: String?, _ names: [GeneralName]) throws -> [UInt8] {
        let subject = try DistinguishedName {
            if let commonName { CommonName(commonName) }
            OrganizationName("Example")
        }
        return try MadeCertificate(subject) { SubjectAlternativeNames(names) }.der
    }

    private func address(_ bytes: UInt8...) -> GeneralName { .ipAddress(ASN1OctetString(contentBytes: bytes[...])) }

    @Test func itHasTheSubjectAndTheNames() async throws {
        let names: [GeneralName] = [.dnsName("*.Example.com"), .dnsName("example.com"), address(10, 0, 0, 1)]
        let leaf = try leaves.issue(like: server("Example Server", names), names: ["here.local"], now: now)
        #expect(try leaf.writtenNames() == ["here.local", "*.example.com", "example.com", "10.0.0.1"])
        #expect(String(describing: try leaf.certificate().subject) == "CN=Example Server")
        for host in ["here.local", "www.example.com", "example.com", "10.0.0.1"] {
            #expect(try await verdict(on: leaf, for: host, trusting: authority).hasPrefix("valid"))
        }
        #expect(try await !verdict(on: leaf, for: "a.b.example.com", trusting: authority).hasPrefix("valid"))
    }

    @Test func namesThatNoClientWouldMatchAreLeftOut() throws {
        let odd: [GeneralName] = [
            .dnsName("*"), .dnsName("*.com"), .dnsName("*.com."), .dnsName("*.*.example.com"),
            .dnsName("w*.example.com"),
            .dnsName(""), .dnsName(" "), .dnsName("a..b"), .dnsName("a\u{0}.example.com"),
            .dnsName(String(repeating: "a.", count: 200)), .dnsName("*." + String(repeating: "a.", count: 126)),
            .rfc822Name("me@example.com"), .uniformResourceIdentifier("https://example.com"), address(1, 2, 3),
            address(),
            .dnsName("good.example.com"), .dnsName("GOOD.example.com"),
        ]
        let leaf = try leaves.issue(like: server("x", odd), names: [], now: now)
        #expect(try leaf.writtenNames() == ["good.example.com"])
    }

    @Test func aServerWithoutNamesGivesOnlyItsSubject() throws {
        #expect(throws: LeafError.noNames) { try leaves.issue(like: server("x", []), names: [], now: now) }
        #expect(try leaves.issue(like: server("x", []), names: ["a.example"], now: now).writtenNames() == ["a.example"])
    }

    @Test(arguments: ["", String(repeating: "a", count: 65), "a\nb", "a\u{9b}b"])
    func commonNamesThatACertificateMayNotHave(text: String) throws {
        let leaf = try leaves.issue(like: server(text, [.dnsName("a.example")]), names: [], now: now)
        #expect(try leaf.certificate().subject.isEmpty)
    }

    @Test func aCertificateWithoutACommonNameHasNoSubject() throws {
        let leaf = try leaves.issue(like: server(nil, [.dnsName("a.example")]), names: ["b.example"], now: now)
        #expect(try leaf.certificate().subject.isEmpty)
    }

    @Test func bytesThatAreNoCertificateAddNothing() throws {
        let leaf = try leaves.issue(like: [0x30, 0x80, 1, 2], names: ["a.example"], now: now)
        #expect(String(describing: try leaf.certificate().subject) == "CN=a.example")
        #expect(throws: LeafError.noNames) { try leaves.issue(like: [], names: [], now: now) }
    }

    @Test func namesAreLimited() throws {
        let many = (0..<2_000).map { GeneralName.dnsName("host\($0).example.com") }
        let leaf = try leaves.issue(like: server("x", many), names: ["mine.example"], now: now)
        #expect(leaf.names.count == 250 && leaf.names.first == .dns("mine.example"))
    }
}
