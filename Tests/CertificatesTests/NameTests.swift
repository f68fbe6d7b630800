import Certificates
import Testing

/// Names from the network: whatever a client sends, a certificate has a host's name or none.
@Suite struct NameTests {
    @Test(arguments: [
        ("example.org", "example.org"), ("EXAMPLE.ORG.", "example.org"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"),
        ("localhost", "localhost"), ("_dmarc.example", "_dmarc.example"), ("-a-.example", "-a-.example"),
        ("127.0.0.1", "127.0.0.1"), ("127.0.0.1.", "127.0.0.1"), ("[::1]", "::1"), ("::FFFF:1.2.3.4", "::ffff:1.2.3.4"),
        ("fe80::1%25en0", "fe80::1"), ("300.1.1.1", "300.1.1.1"),
    ])
    func names(text: String, written: String) throws {
        #expect(try CertificateName(requested: text).description == written)
    }

    @Test func theLongestName() throws {
        let part = String(repeating: "a", count: 63)
        let name = [part, part, part, String(repeating: "b", count: 61)].joined(separator: ".")
        #expect(name.utf8.count == 253)
        #expect(try CertificateName(requested: name + ".") == .dns(name))
        #expect(throws: LeafError.name(name + "b", "has 254 bytes; a DNS name has at most 253")) {
            try CertificateName(requested: name + "b")
        }
    }

    @Test(arguments: [
        ("", "the name is empty"),
        (".", "the name has an empty part between its dots"),
        ("a..b", "the name has an empty part between its dots"),
        (".a", "the name has an empty part between its dots"),
        ("*.example.org", "the name has a wildcard; expected the name of one server"),
        ("bücher.example", "the name is not ASCII; clients send such names in Punycode, as in xn--bcher-kva.example"),
        ("\u{fffd}", "the name is not ASCII; clients send such names in Punycode, as in xn--bcher-kva.example"),
        ("a b", "the name has characters other than letters, digits, - _ and dots"),
        ("a\u{0}b.example", "the name has characters other than letters, digits, - _ and dots"),
        ("127.0.0.1\u{0}.example", "the name has characters other than letters, digits, - _ and dots"),
        ("a/../b", "the name has characters other than letters, digits, - _ and dots"),
        ("[::1", "the name has characters other than letters, digits, - _ and dots"),
        ("1.2.3.4%eth0", "the name has characters other than letters, digits, - _ and dots"),
        ("a\u{1b}[31m", "the name has characters other than letters, digits, - _ and dots"),
        (String(repeating: "a", count: 64), "the name has a part of 64 bytes; a DNS name's parts have at most 63"),
        (String(repeating: "a", count: 70_000), "the name has 70000 bytes; a DNS name has at most 253"),
    ])
    func flaws(text: String, flaw: String) throws {
        let error = try #require(throws: LeafError.self) { try LeafRequest(names: ["good.example", text]) }
        #expect(error.description == "no certificate for \(String(reflecting: String(text.prefix(80)))): \(flaw)")
        #expect(error.description.unicodeScalars.allSatisfy { $0.value >= 0x20 })
        #expect(error.description.utf8.count < 300)
    }

    @Test func noNames() {
        let error = #expect(throws: LeafError.noNames) { try LeafRequest(names: []) }
        let expected = "no certificate for a client that names no server; expected a name or an address"
        #expect(error?.description == expected)
    }

    /// Whatever the bytes are, they are a name or an error, and every name is one again.
    @Test func anyBytes() {
        var generator = SystemRandomNumberGenerator()
        let alphabet = Array("ab.-*%[]:1\u{0} é".utf8)
        for _ in 0..<20_000 {
            let count = Int.random(in: 0..<20, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let text = String(decoding: bytes, as: UTF8.self)
            guard let name = try? CertificateName(requested: text) else { continue }
            #expect((try? CertificateName(requested: name.description)) == name, "\(bytes)")
        }
    }
}
