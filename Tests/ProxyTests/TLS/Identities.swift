import Foundation
import TestSupport

/// A server's certificate and its authority, made by OpenSSL, and the proxy's authority, in a folder of its own.
struct Identities {
    let folder: Folder
    /// The folder of the proxy's authority.
    var authority: String { folder.path("ca") }
    /// Options of a proxy that trusts the server.
    var trusting: [String] { ["--server-ca", folder.path("ca.crt"), "--server-name", "chat.example.com"] }

    /// The contents of the files, made once: keys take time.
    private static let files = Result { try make() }

    init() throws {
        try Program.need("openssl")
        folder = try Folder()
        let files = FileManager.default
        try files.createDirectory(at: folder.url.appending(path: "ca"), withIntermediateDirectories: false)
        for (name, bytes) in try Self.files.get() {
            // A key that others can read is not used.
            try files.setAttributes([.posixPermissions: 0o600], ofItemAtPath: try folder.write(bytes, to: name))
        }
    }

    private static func make() throws -> [String: [UInt8]] {
        let folder = try Folder()
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        let signed = "-CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile names"
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = [
            "-e", "-c",
            """
            openssl req -x509 \(curve) -days 30 -subj '/CN=Test CA' -keyout ca.key -out ca.crt
            openssl req \(curve) -subj /CN=localhost -keyout server.key -out server.csr
            echo subjectAltName=DNS:localhost,DNS:chat.example.com > names
            openssl x509 -req -in server.csr \(signed) -out server.crt
            openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout rsa.key -out rsa.csr
            openssl x509 -req -in rsa.csr \(signed) -out rsa.crt
            '\(try Program.find("frametap").path)' ca create --ca ca
            cp ca/ca.pem proxy.pem
            """,
        ]
        process.currentDirectoryURL = folder.url
        process.standardOutput = try folder.create("output")
        process.standardError = try folder.create("errors")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Program.Failure(description: folder.text("errors")) }
        let names = [
            "ca.crt", "ca.key", "server.crt", "server.key", "rsa.crt", "rsa.key", "ca/ca.pem", "ca/ca-key.pem",
            "proxy.pem",
        ]
        return Dictionary(uniqueKeysWithValues: names.map { ($0, folder.bytes($0)) })
    }
}
