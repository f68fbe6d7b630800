import Certificates
import Foundation
import Testing

@testable import frametap

/// `frametap ca`, as users run it, and what OpenSSL says about its results.
@Suite struct CACommandTests {
    private let folder = TemporaryFolder()

    private func ca(_ arguments: String..., at path: String? = nil) throws -> Program.Result {
        try Program.run("frametap", ["ca"] + arguments + ["--ca", path ?? folder.path])
    }

    private func mode(of path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test func create() throws {
        // The folders above it do not exist either.
        let path = "\(folder.path)/a/b c"
        let created = try ca("create", at: path)
        let authority = try AuthorityFolder(path).load(orCreate: false)
        let lines = """
            created      \(path)/ca.pem
            fingerprint  \(authority.fingerprint)
            next: frametap ca trust --ca '\(path)'

            """
        #expect(created.status == 0 && created.text == lines && created.errors == "")
        #expect(try mode(of: "\(path)/ca-key.pem") == 0o600 && mode(of: "\(path)/ca.pem") == 0o644)
        #expect(try mode(of: path) == 0o700 && mode(of: "\(folder.path)/a") == 0o700)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["ca-key.pem", "ca.pem"])

        let again = try ca("create", at: path)
        #expect(again.status == 2 && again.output.isEmpty)
        #expect(again.errors.hasPrefix("frametap: \(path)/ca.pem exists; expected a folder without a CA\n"))
        #expect(try AuthorityFolder(path).load(orCreate: false).fingerprint == authority.fingerprint)
        #expect(try ca("create", "--force", at: path).status == 0)
        #expect(try AuthorityFolder(path).load(orCreate: false).fingerprint != authority.fingerprint)
        #expect(try mode(of: "\(path)/ca-key.pem") == 0o600)
    }

    /// A key that is left without its certificate is not overwritten either.
    @Test func aKeyAloneIsKept() throws {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        try Data("precious".utf8).write(to: URL(filePath: "\(folder.path)/ca-key.pem"))
        #expect(try ca("create").status == 2)
        #expect(try String(contentsOfFile: "\(folder.path)/ca-key.pem", encoding: .utf8) == "precious")
        let show = try ca("show")
        #expect(show.status == 2 && show.errors.hasPrefix("frametap: \(folder.path)/ca.pem is missing; expected it"))
    }

    @Test func show() throws {
        let missing = try ca("show")
        let expected = "there is no CA in \(folder.path); expected ca.pem and ca-key.pem: frametap ca create"
        #expect(missing.status == 2 && missing.errors == "frametap: \(expected) --ca \(folder.path)\n")
        _ = try ca("create")
        let authority = try AuthorityFolder(folder.path).load(orCreate: false)
        let lines = """
            subject      \(authority.subject)
            fingerprint  \(authority.fingerprint)
            valid        \(authority.certificate.notBefore) to \(authority.notAfter)
            certificate  \(folder.path)/ca.pem
            key          \(folder.path)/ca-key.pem

            """
        #expect(try ca("show").text == lines)
        #expect(try ca("show", "--pem").text == lines + "\n" + authority.certificatePEM)
        let arguments = ["x509", "-noout", "-fingerprint", "-sha256", "-in", "\(folder.path)/ca.pem"]
        let openssl = try Program.output("openssl", arguments).text
        #expect(openssl.lowercased() == "sha256 fingerprint=\(authority.fingerprint)\n".lowercased())
    }

    @Test(arguments: [0o640, 0o604, 0o610, 0o602, 0o777]) func aKeyThatOthersCanReadIsRefused(mode: Int) throws {
        _ = try ca("create")
        let key = "\(folder.path)/ca-key.pem"
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: key)
        let show = try ca("show")
        let octal = String(mode, radix: 8)
        let expected = "\(key) is open to other users (mode \(octal)); expected mode 600: chmod 600 \(key)"
        #expect(show.status == 2 && show.errors == "frametap: \(expected)\n")
        #expect(throws: CommandError.self) { try AuthorityFolder(folder.path).load(orCreate: true) }
        try FileManager.default.setAttributes([.posixPermissions: 0o400], ofItemAtPath: key)
        #expect(try ca("show").status == 0)
    }

    @Test func filesThatAreWrongAreNamed() throws {
        _ = try ca("create")
        try Data("x".utf8).write(to: URL(filePath: "\(folder.path)/ca.pem"))
        #expect(try ca("show").errors.hasPrefix("frametap: \(folder.path)/ca.pem is not PEM; expected"))
        _ = try ca("create", "--force")
        let handle = try FileHandle(forWritingTo: URL(filePath: "\(folder.path)/ca-key.pem"))
        try handle.truncate(atOffset: 0)
        #expect(try ca("show").errors.hasPrefix("frametap: \(folder.path)/ca-key.pem is not PEM; expected"))
    }

    @Test func theDefaultFolder() throws {
        func standard(_ variables: String...) throws -> String {
            let frametap = try Program.find("frametap").path
            return try Program.run("env", variables + [frametap, "ca", "show"]).errors
        }
        let xdg = try standard("XDG_DATA_HOME=/nowhere", "HOME=/home/me")
        #expect(xdg.contains("no CA in /nowhere/frametap; expected ca.pem and ca-key.pem: frametap ca create\n"))
        #if os(Linux)
        let home = try standard("XDG_DATA_HOME=relative", "HOME=/home/me")
        #expect(home.contains("no CA in /home/me/.local/share/frametap;"))
        #endif
        #expect(
            try standard("-u", "XDG_DATA_HOME", "-u", "HOME").contains("HOME is not set; expected HOME or --ca DIR"))
    }

    /// OpenSSL's strict check follows RFC 5280 to the letter.
    @Test func openSSLVerifiesWhatItIssues() throws {
        _ = try ca("create")
        let authority = try AuthorityFolder(folder.path).load(orCreate: false)
        let leaves = try LeafCertificates(of: authority)
        let root = "\(folder.path)/ca.pem"
        let long = Array(repeating: String(repeating: "a", count: 40), count: 3).joined(separator: ".")
        for (name, check) in [
            ("example.org", "-verify_hostname"), ("under_score.local", "-verify_hostname"), (long, "-verify_hostname"),
            ("127.0.0.1", "-verify_ip"), ("2001:db8::1", "-verify_ip"),
        ] {
            let leaf = try leaves.issue(for: [name], now: .now)
            let file = try TemporaryFile(leaf.chain[0], name: "leaf.der")
            let strict = ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", root]
            let verified = try Program.run("openssl", strict + [check, name, file.path])
            #expect(verified.status == 0 && verified.text == "\(file.path): OK\n", "\(name): \(verified.errors)")
            let other = try Program.run("openssl", strict + ["-verify_hostname", "other.example", file.path])
            #expect(other.status != 0)
        }
        #expect(
            try Program.output("openssl", ["verify", "-x509_strict", "-CAfile", root, root]).text == "\(root): OK\n")
    }

    @Test func whatOpenSSLReads() throws {
        _ = try ca("create")
        let leaves = try LeafCertificates(of: try AuthorityFolder(folder.path).load(orCreate: false))
        let leaf = try leaves.issue(for: ["example.org", "10.0.0.1"], now: .now)
        let file = try TemporaryFile(leaf.chain[0], name: "leaf.der")
        let text = try Program.output("openssl", ["x509", "-noout", "-text", "-in", file.path]).text
        for part in [
            "Subject: CN = example.org", "CA:FALSE", "Digital Signature\n", "TLS Web Server Authentication\n",
            "DNS:example.org, IP Address:10.0.0.1", "Authority Key Identifier", "Subject Key Identifier",
        ] {
            #expect(text.replacing("CN=", with: "CN = ").contains(part), "\(part) in \(text)")
        }
        let key = try TemporaryFile(leaves.privateKeyDER, name: "key.der")
        let ofKey = try Program.output("openssl", ["pkey", "-pubout", "-in", key.path]).text
        #expect(try Program.output("openssl", ["x509", "-noout", "-pubkey", "-in", file.path]).text == ofKey)
    }

    @Test func wrongUse() throws {
        #expect(try ca("create", "--no").status == 64)
        #expect(try ca("create", at: "").errors.contains("--ca is empty; expected a folder"))
        #expect(try ca("create", at: "").status == 64)
        let file = try TemporaryFile([])
        let notAFolder = try ca("create", at: file.path)
        #expect(notAFolder.status == 2 && notAFolder.errors.contains("cannot open the folder \(file.path): "))
    }
}

/// A folder for one test, which does not exist at first.
final class TemporaryFolder {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent("frametap-\(UUID())").path

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
