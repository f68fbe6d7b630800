import Certificates
import Crypto
import CryptoExtras
import SwiftASN1
import Testing
import X509

/// What people are told about files that are not an authority.
@Suite struct AuthorityErrorTests {
    private let good: CertificateAuthority

    init() throws {
        good = try CertificateAuthority.create(label: "test", now: now)
    }

    private func error(certificate: String? = nil, key: String? = nil, at time: CertificateTime = now) throws -> String
    {
        let key = try key ?? good.keyPEM
        let error = #expect(throws: AuthorityError.self) {
            try CertificateAuthority(certificatePEM: certificate ?? good.certificatePEM, keyPEM: key, now: time)
        }
        return error?.description ?? ""
    }

    @Test(arguments: ["", "hello", "\u{0}\u{1}", "-----BEGIN", "----BEGIN CERTIFICATE----\n"]) func noPEM(text: String)
        throws
    {
        let certificate = "is not PEM; expected text with a line -----BEGIN CERTIFICATE-----"
        #expect(try error(certificate: text) == "the CA's certificate \(certificate)")
        let key = "is not PEM; expected text with a line -----BEGIN PRIVATE KEY-----"
        #expect(try error(key: text) == "the CA's key \(key)")
    }

    @Test func damagedPEM() throws {
        let cut = String(good.certificatePEM.dropLast(40))
        let expected = "expected base64 between -----BEGIN CERTIFICATE----- and -----END CERTIFICATE-----"
        #expect(try error(certificate: cut) == "the CA's certificate is damaged: \(expected)")
        let odd = good.certificatePEM.replacing("MII", with: "M*I").replacing("\nMIB", with: "\n*IB")
        #expect(try error(certificate: odd) == "the CA's certificate is damaged: \(expected)")
        let key = try String(good.keyPEM.dropLast(40))
        let expectedKey = "expected base64 between -----BEGIN PRIVATE KEY----- and -----END PRIVATE KEY-----"
        #expect(try error(key: key) == "the CA's key is damaged: \(expectedKey)")
    }

    @Test func filesThatWereExchanged() throws {
        let certificate = try error(certificate: good.keyPEM)
        #expect(
            certificate == "the CA's certificate has no CERTIFICATE, only PRIVATE KEY; expected the certificate of a CA"
        )
        let key = try error(key: good.certificatePEM)
        #expect(key == "the CA's key has no PRIVATE KEY, only CERTIFICATE; expected the key of the certificate")
    }

    @Test func noCertificate() throws {
        let pem = PEMDocument(type: "CERTIFICATE", derBytes: [0x30, 0]).pemString + "\n"
        let expected = "is PEM, but no X.509 certificate with a key of a known kind; expected the certificate of a CA"
        #expect(try error(certificate: pem) == "the CA's certificate \(expected)")
    }

    @Test func noAuthority() throws {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let name = try DistinguishedName { CommonName("example.org") }
        let expected =
            "the CA's certificate is not a CA's: it does not say CA:TRUE, and clients reject what it signs; "
            + "expected a CA, such as frametap ca create makes"
        let server = try MadeCertificate(name, key: key) { Critical(BasicConstraints.notCertificateAuthority) }
        #expect(try error(certificate: server.pem, key: server.keyPEM) == expected)
        let old = try MadeCertificate(name, key: key) { SubjectKeyIdentifier(hash: key.publicKey) }
        #expect(try error(certificate: old.pem, key: old.keyPEM) == expected)
        let signsNothing = try MadeCertificate(name, key: key) {
            Critical(BasicConstraints.isCertificateAuthority(maxPathLength: nil))
            Critical(KeyUsage(cRLSign: true))
        }
        let usage = "is a CA's that may not sign certificates (key usage keyCertSign); expected one that may"
        #expect(try error(certificate: signsNothing.pem, key: signsNothing.keyPEM) == "the CA's certificate \(usage)")
    }

    @Test func theKeyOfAnother() throws {
        let other = try CertificateAuthority.create(label: "test", now: now)
        let expected =
            "does not belong to the certificate of CN=frametap CA test,O=frametap; "
            + "expected the key that it was made with"
        #expect(try error(key: other.keyPEM) == "the CA's key \(expected)")
        let rsa = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
        #expect(try error(key: rsa.serializeAsPEM().pemString + "\n") == "the CA's key \(expected)")
    }

    @Test func timesWhenItIsNotValid() throws {
        let expired = try error(at: now.adding(days: 3_653))
        #expect(
            expired
                == "the CA's certificate expired at 2036-11-21T10:00:00Z; expected a valid one: frametap ca create --force"
        )
        let early = try error(at: now.adding(days: -3))
        #expect(early == "the CA's certificate is not valid until 2026-11-20T10:00:00Z; is this machine's clock right?")
        let last = now.adding(days: 3_652)
        _ = try CertificateAuthority(certificatePEM: good.certificatePEM, keyPEM: good.keyPEM, now: last)
    }

    @Test func kindsOfKeys() throws {
        let edwards = try MadeCertificate.authority(key: .init(Curve25519.Signing.PrivateKey()))
        let kinds = "P-256, P-384, P-521, or RSA with at least 2048 bits"
        let expected = "has an Ed25519 key, whose signatures many clients do not verify; expected \(kinds)"
        #expect(try error(certificate: edwards.pem, key: edwards.keyPEM) == "the CA's certificate \(expected)")
        let short = PEMDocument(type: "RSA PRIVATE KEY", derBytes: [0x30, 0]).pemString + "\n"
        #expect(
            try error(key: short) == "the CA's key is damaged or of a kind that is not supported; expected \(kinds)")
        let unknown = PEMDocument(type: "DSA PRIVATE KEY", derBytes: [0x30, 0]).pemString + "\n"
        let other = "has no PRIVATE KEY, only DSA PRIVATE KEY; expected the key of the certificate"
        #expect(try error(key: unknown) == "the CA's key \(other)")
    }

    @Test func encryptedKeys() throws {
        let expected = "is encrypted with a passphrase; expected it without: openssl pkey -in ENCRYPTED -out PLAIN"
        let new = PEMDocument(type: "ENCRYPTED PRIVATE KEY", derBytes: [0x30, 0]).pemString + "\n"
        #expect(try error(key: new) == "the CA's key \(expected)")
        let old =
            "-----BEGIN EC PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00\n\nAAAA\n-----END EC PRIVATE KEY-----\n"
        #expect(try error(key: old) == "the CA's key \(expected)")
    }

    @Test func theFileAtFaultIsNamed() throws {
        let certificate = try #require(throws: AuthorityError.self) { try AuthorityCertificate(pem: "") }
        #expect(certificate.part == .certificate && !certificate.reason.contains("certificate "))
        let key = try #require(throws: AuthorityError.self) {
            try CertificateAuthority(certificatePEM: good.certificatePEM, keyPEM: "", now: now)
        }
        #expect(key.part == .key)
    }
}
