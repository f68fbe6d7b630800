import Crypto
import Streams
import Testing

@testable import TLS

/// Key schedules and ciphers, by the vectors of their documents.
struct KeyScheduleTests {
    /// RFC 8448 section 3.
    @Test(arguments: [
        (
            "b67b7d690cc16c4e75e54213cb2d37b4e9c912bcded9105d42befd59d391ad38", "3fce516009c21727d0f2e4e86ee403bc",
            "5d313eb2671276ee13000b30"
        ),
        (
            "9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5", "17422dda596ed5d9acd890e3c63f5051",
            "5b78923dee08579033e523d9"
        ),
        (
            "a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643", "9f02283b6c9c07efc26bb9f2ac92e356",
            "cf782b88dd83549aadf1e984"
        ),
    ])
    func `traffic keys of TLS 1.3`(secret: String, key: String, iv: String) {
        let keys = TrafficSecret(bytes: hex(secret), hash: .sha256).keys(keyLength: 16)
        #expect(keys.key == hex(key) && keys.iv == hex(iv))
    }

    /// RFC 8448 section 3: the client's first application data, which is 50 bytes that count up.
    @Test func `a record of TLS 1.3`() throws {
        let record = hex(
            """
            17 03 03 00 43 a2 3f 70 54 b6 2c 94 d0 af fa fe 82 28 ba 55 cb ef ac ea 42 f9 14 aa 66 bc ab 3f 2b 98 19 a8
            a5 b4 6b 39 5b d5 4a 9a 20 44 1e 2b 62 97 4e 1f 5a 62 92 a2 97 70 14 bd 1e 3d ea e6 3a ee bb 21 69 49 15 e4
            """)
        let secret = hex("9e40646ce79a7f9dc05af8889bce6552875afa0b06df0087f792ebb7c17504a5")
        let suite = try #require(CipherSuite(rawValue: 0x1301).protection)
        let protection = try #require(RecordProtection(TrafficSecret(bytes: secret, hash: .sha256), suite))
        guard let header = RecordHeader(record.span.bytes) else {
            Issue.record("no header")
            return
        }
        let result = protection.open(header, record.span.bytes, sequence: 0)
        let opened = try #require(result)
        #expect(opened.type == 23 && opened.length == 50 && opened.padding == 0)
        #expect(Array(opened.bytes.prefix(50)) == Array(0..<50))
        let isOther = protection.open(header, record.span.bytes, sequence: 1) == nil
        #expect(isOther)
    }

    /// The vectors of "TLS 1.2 PRF test vectors", tls@ietf.org, 2009.
    @Test func `the PRF of TLS 1.2`() {
        let sha256 = PRF.expand(
            hex("9bbe436ba940f017b17652849a71db35"), label: "test label", seed: hex("a0ba9f936cda311827a6f796ffd5198c"),
            count: 100, hash: .sha256)
        #expect(
            sha256
                == hex(
                    """
                    e3f229ba727be17b8d122620557cd453c2aab21d07c3d495329b52d4e61edb5a6b301791e90d35c9c9a46b4e14baf9af0fa0
                    22f7077def17abfd3797c0564bab4fbc91666e9def9b97fce34f796789baa48082d122ee42c5a72e5a5110fff70187347b66
                    """))
        let sha384 = PRF.expand(
            hex("b80b733d6ceefcdc71566ea48e5567df"), label: "test label", seed: hex("cd665cf6a8447dd6ff8b27555edb7465"),
            count: 48, hash: .sha384)
        #expect(
            sha384
                == hex(
                    "7b0c18e9ced410ed1804f2cfa34a336a1c14dffb4900bb5fd7942107e81c83cde9ca0faa60be9fe34f82b1233c9146a0"))
    }

    /// NIST SP 800-38C, example 3: a nonce of 12 bytes, as TLS has, and a tag of 8.
    @Test func `AES-CCM`() {
        let ccm = CCM(key: SymmetricKey(data: Array(0x40...0x4f) as [UInt8]), tagLength: 8)
        let nonce: [UInt8] = Array(0x10...0x1b)
        var sealed = hex("e3b201a9f5b71a7a9b1ceaeccd97e70b6176aad9a4428aa5484392fbc1b09951")
        #expect(ccm.open(nonce: nonce, sealed, Array(0x00...0x13)).map { Array($0) } == Array(0x20...0x37))
        #expect(ccm.open(nonce: nonce, sealed, Array(0x00...0x12)) == nil)
        sealed[31] ^= 1
        #expect(ccm.open(nonce: nonce, sealed, Array(0x00...0x13)) == nil)
        #expect(ccm.open(nonce: nonce, [1, 2, 3], []) == nil)
    }

    @Test func `suites say how they protect records`() {
        func protection(_ number: UInt16) -> SuiteProtection? { CipherSuite(rawValue: number).protection }
        #expect(protection(0x1302) == SuiteProtection(cipher: .aesGCM, 32, .sha384))
        #expect(protection(0x1305) == SuiteProtection(cipher: .aesCCM(tagLength: 8), 16, .sha256))
        #expect(protection(0x002f) == SuiteProtection(cipher: .aesCBC(mac: .sha1), 16, .sha256))
        #expect(protection(0x003d) == SuiteProtection(cipher: .aesCBC(mac: .sha256), 32, .sha256))
        #expect(protection(0xc028) == SuiteProtection(cipher: .aesCBC(mac: .sha384), 32, .sha384))
        #expect(protection(0xcca8) == SuiteProtection(cipher: .chaCha20Poly1305, 32, .sha256))
        #expect(protection(0xc0ac) == SuiteProtection(cipher: .aesCCM(tagLength: 16), 16, .sha256))
        #expect(protection(0x0005) == nil)
        #expect(CipherSuite(rawValue: 0x0005).name == "TLS_RSA_WITH_RC4_128_SHA")
        #expect(CipherSuite(rawValue: 0xeeee).name == "0xeeee")
        // Every name says a cipher that is known: the tables are disjoint.
        for number in CipherSuite.decryptableNames.keys {
            #expect(CipherSuite.otherNames[number] == nil)
            #expect(protection(number) != nil)
        }
    }
}
