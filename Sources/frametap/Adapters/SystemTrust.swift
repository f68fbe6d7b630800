import Certificates
import Platform

/// The certificates that a Debian or Ubuntu system trusts, apart from those that come with it.
struct SystemTrust {
    /// Where the CA is installed.
    var file = "/usr/local/share/ca-certificates/frametap-ca.crt"
    /// What makes programs see it.
    var program = "/usr/sbin/update-ca-certificates"

    /// Whether this system works this way.
    var isAvailable: Bool { access(program, X_OK) == 0 }

    /// Whether this process may change what the system trusts.
    var isPermitted: Bool { geteuid() == 0 }

    /// The CA that is installed.
    var installed: Fingerprint? {
        guard PrivateFile.exists(file), let text = try? PrivateFile.text(of: file) else { return nil }
        return (try? AuthorityCertificate(pem: text))?.fingerprint
    }

    /// Makes the system trust a CA.
    func install(_ certificate: AuthorityCertificate) throws {
        let isReplaced = PrivateFile.exists(file)
        try PrivateFile.write(certificate.pem, to: file, mode: 0o644)
        try update(afresh: isReplaced)
    }

    /// Undoes it.
    func remove() throws {
        guard unlink(file) == 0 else { throw CommandError("cannot delete \(file): \(systemError())") }
        try update(afresh: true)
    }

    /// How people install a certificate themselves; the path is a word of a shell.
    func installCommand(_ path: String) -> String {
        "sudo cp \(path) \(file) && sudo update-ca-certificates"
    }

    /// How people remove it themselves.
    var removeCommand: String { "sudo rm \(file) && sudo update-ca-certificates --fresh" }

    /// - Parameter afresh: whether files were removed or replaced. Only with `--fresh` does the program look for that: without it, Java's
    ///   certificates and the folder that OpenSSL searches keep what was there.
    private func update(afresh: Bool) throws {
        // Its report is no result of this command.
        let status = system(ShellWord.quoted(program) + (afresh ? " --fresh" : "") + " >&2")
        guard status == 0 else {
            throw CommandError("\(program) failed (status \(status >> 8 & 255)); its messages are above")
        }
    }
}
