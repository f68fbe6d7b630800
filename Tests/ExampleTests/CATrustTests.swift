import Certificates
import Foundation
import Testing

@testable import frametap

/// Making clients trust the CA, and creating it on first use.
@Suite struct CATrustTests {
    private let folder = TemporaryFolder()

    private func ca(_ arguments: String...) throws -> Program.Result {
        try Program.run("frametap", ["ca"] + arguments + ["--ca", folder.path])
    }

    /// A system whose program notes that it ran.
    private func system(_ script: String = "echo \"updated $*\" >> \"$0.log\"") throws -> SystemTrust {
        try FileManager.default.createDirectory(atPath: folder.path, withIntermediateDirectories: true)
        let program = "\(folder.path)/it's up date"
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(filePath: program))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
        return SystemTrust(file: "\(folder.path)/installed.crt", program: program)
    }

    @Test func installedAndRemoved() throws {
        let system = try system()
        let authority = try CertificateAuthority.create(now: .now)
        #expect(system.isAvailable && system.installed == nil)
        try system.install(authority.certificate)
        #expect(system.installed == authority.fingerprint)
        #expect(try String(contentsOfFile: system.file, encoding: .utf8) == authority.certificatePEM)
        let other = try CertificateAuthority.create(now: .now)
        try system.install(other.certificate)
        #expect(system.installed == other.fingerprint)
        try system.remove()
        #expect(system.installed == nil && !FileManager.default.fileExists(atPath: system.file))
        #expect(
            try String(contentsOfFile: "\(system.program).log", encoding: .utf8)
                == "updated \nupdated --fresh\nupdated --fresh\n")
    }

    @Test func aProgramThatFails() throws {
        let system = try system("exit 3")
        let authority = try CertificateAuthority.create(now: .now)
        let error = #expect(throws: CommandError.self) { try system.install(authority.certificate) }
        #expect(error?.description == "\(system.program) failed (status 3); its messages are above")
        let missing = SystemTrust(file: system.file, program: "/nowhere/program")
        #expect(!missing.isAvailable)
        let consent = #expect(throws: CommandError.self) {
            try Consent(isGiven: true).allows("install it", in: missing, AuthorityFolder(folder.path), "trust")
        }
        #expect(consent?.description.hasPrefix("cannot install it: there is no /nowhere/program;") == true)
        #expect(try !Consent(isGiven: false).allows("install it", in: missing, AuthorityFolder(folder.path), "trust"))
    }

    /// Without a terminal and without --yes nothing but text.
    @Test func instructions() throws {
        _ = try ca("create")
        let before = SystemTrust().installed
        let trust = try ca("trust")
        let path = "\(folder.path)/ca.pem"
        #expect(trust.status == 0 && trust.errors == "")
        for line in [
            "Clients must trust CN=frametap CA ", "Debian, Ubuntu",
            "sudo cp \(path) /usr/local/share/ca-certificates/frametap-ca.crt",
            "Fedora", "macOS", "Firefox", "Java", "keytool -importcert -noprompt -cacerts", "SSL_CERT_FILE=\(path)",
            "REQUESTS_CA_BUNDLE=\(path)", "NODE_EXTRA_CA_CERTS=\(path)", "curl --cacert \(path)", "Android", "iOS",
        ] {
            #expect(trust.text.contains(line), "\(line)")
        }
        let remove = try ca("remove")
        #expect(remove.status == 0 && remove.text.contains("sudo rm /usr/local/share/ca-certificates/frametap-ca.crt"))
        #expect(remove.text.contains("&& sudo update-ca-certificates --fresh\n"))
        #expect(SystemTrust().installed == before)
        #expect(FileManager.default.fileExists(atPath: path))
    }

    @Test func delete() throws {
        _ = try ca("create")
        let deleted = try ca("remove", "--delete")
        #expect(deleted.status == 0 && deleted.text.hasSuffix("\nDeleted the CA in \(folder.path)\n"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
        #expect(try ca("remove", "--delete").status == 2 && ca("remove").status == 2)
        // What cannot be read can be deleted.
        _ = try ca("create")
        try Data().write(to: URL(filePath: "\(folder.path)/ca.pem"))
        #expect(try ca("remove").status == 2 && ca("remove", "--delete").status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    }

    @Test func createdOnFirstUse() throws {
        let path = AuthorityFolder(folder.path)
        #expect(throws: CommandError.self) { try path.load(orCreate: false) }
        let created = try path.load(orCreate: true)
        #expect(try path.load(orCreate: true).fingerprint == created.fingerprint)
        #expect(try path.load(orCreate: false).fingerprint == created.fingerprint)
    }

    /// Several proxies may start at once.
    @Test func createdOnce() throws {
        let frametap = try Program.find("frametap").path
        for round in 0..<10 {
            let path = "\(folder.path)/\(round)"
            let arguments = ["-P", "8", "-I{}", frametap, "ca", "create", "--ca", path]
            let result = try Program.run("xargs", arguments, input: Array("1\n2\n3\n4\n5\n6\n7\n8\n".utf8))
            let created = result.text.split(separator: "\n")
            let fingerprint = try AuthorityFolder(path).load(orCreate: false).fingerprint
            #expect(created.filter { $0.hasPrefix("fingerprint") } == ["fingerprint  \(fingerprint)"])
            #expect(try FileManager.default.contentsOfDirectory(atPath: path).sorted() == ["ca-key.pem", "ca.pem"])
        }
    }

    @Test(arguments: [("/a/b.pem", "/a/b.pem"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("", "''"), ("$x", "'$x'")])
    func wordsOfAShell(word: String, quoted: String) {
        #expect(ShellWord.quoted(word) == quoted)
    }
}
