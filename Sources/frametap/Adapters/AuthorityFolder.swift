import Certificates
import Platform
import Streams

/// The folder with the certificate authority: its certificate, which anyone may read, and its key, which only its owner may.
struct AuthorityFolder {
    let path: String
    /// What a command needs to find this folder again: nothing, or ` --ca DIR`.
    let option: String

    var certificatePath: String { "\(path)/ca.pem" }
    var keyPath: String { "\(path)/ca-key.pem" }

    /// A folder that the user chose.
    init(_ path: String) {
        let isRoot = path.allSatisfy { $0 == "/" }
        self.path = isRoot ? path : String(path.reversed().drop { $0 == "/" }.reversed())
        option = " --ca \(ShellWord.quoted(self.path))"
    }

    private init(standard path: String) {
        self.path = path
        option = ""
    }

    /// frametap's folder in the user's data folder.
    static func standard() throws -> AuthorityFolder {
        // The XDG base directory specification: a relative path is ignored.
        if let data = Environment["XDG_DATA_HOME"], data.hasPrefix("/") {
            return AuthorityFolder(standard: "\(data)/frametap")
        }
        guard let home = Environment["HOME"], home.hasPrefix("/") else {
            throw CommandError("there is no folder for the CA: HOME is not set; expected HOME or --ca DIR")
        }
        #if os(macOS)
        return AuthorityFolder(standard: "\(home)/Library/Application Support/frametap")
        #else
        return AuthorityFolder(standard: "\(home)/.local/share/frametap")
        #endif
    }

    /// The certificate alone, valid or not: no key is needed to show it or to trust it.
    func certificate() throws -> AuthorityCertificate {
        try requireFile(certificatePath)
        let text = try PrivateFile.text(of: certificatePath)
        return try named { try AuthorityCertificate(pem: text) }
    }

    /// The authority, ready to sign.
    ///
    /// - Parameter orCreate: whether to make one on first use, and say so.
    func load(orCreate: Bool) throws -> CertificateAuthority {
        if orCreate, !hasFiles {
            if let authority = try createUnlessThere() {
                warn("created a CA, \(certificatePath); clients must trust it: frametap ca trust\(option)")
                return authority
            }
        }
        try requireFile(certificatePath)
        try requireFile(keyPath)
        let certificate = try PrivateFile.text(of: certificatePath)
        let key = try PrivateFile.secret(of: keyPath)
        return try named {
            try CertificateAuthority(certificatePEM: certificate, keyPEM: key, now: .now)
        }
    }

    /// Makes an authority.
    ///
    /// - Parameter replacing: whether it may take the place of another.
    func create(replacing: Bool) throws -> CertificateAuthority {
        if let authority = try createUnlessThere(replacing: replacing) { return authority }
        let known = PrivateFile.exists(certificatePath) ? certificatePath : keyPath
        throw CommandError(
            "\(known) exists; expected a folder without a CA\n"
                + "to replace it, so that clients must trust another one: frametap ca create --force\(option)")
    }

    /// Deletes the files.
    func delete() throws {
        if !PrivateFile.exists(keyPath) { try requireFile(certificatePath) }
        for path in [keyPath, certificatePath] where PrivateFile.exists(path) {
            guard unlink(path) == 0 else { throw CommandError("cannot delete \(path): \(systemError())") }
        }
    }

    var hasFiles: Bool { PrivateFile.exists(certificatePath) && PrivateFile.exists(keyPath) }

    /// Makes an authority unless one is there: then nil. Of several processes that do so at once, one makes it.
    private func createUnlessThere(replacing: Bool = false) throws -> CertificateAuthority? {
        let lock = try FolderLock(creating: path)
        defer { lock.release() }
        if !replacing, PrivateFile.exists(certificatePath) || PrivateFile.exists(keyPath) { return nil }
        let authority = try CertificateAuthority.create(label: Host.name, now: .now)
        // The certificate is written last: where it is, the key is too.
        try PrivateFile.write(try authority.keyPEM, to: keyPath, mode: 0o600)
        try PrivateFile.write(authority.certificatePEM, to: certificatePath, mode: 0o644)
        return authority
    }

    private func requireFile(_ file: String) throws {
        if PrivateFile.exists(file) { return }
        let isEmpty = !PrivateFile.exists(certificatePath) && !PrivateFile.exists(keyPath)
        throw CommandError(
            isEmpty
                ? "there is no CA in \(path); expected ca.pem and ca-key.pem: frametap ca create\(option)"
                : "\(file) is missing; expected it next to the other file of the CA\n"
                    + "if it is lost, make another CA: frametap ca create --force\(option)")
    }

    /// Says which file is wrong.
    private func named<Value>(_ read: () throws -> Value) throws -> Value {
        do {
            return try read()
        } catch let error as AuthorityError {
            throw CommandError("\(error.part == .key ? keyPath : certificatePath) \(error.reason)")
        }
    }
}

extension CertificateTime {
    /// The machine's time.
    static var now: CertificateTime { CertificateTime(Timestamp(nanoseconds: SystemClock.nanoseconds())) }
}
