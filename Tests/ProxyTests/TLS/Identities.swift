import Foundation
import TestSupport

/// A server's certificate and its authority, made by OpenSSL, and the proxy's authority.
struct Identities {
    let folder: Folder
    /// The folder of the proxy's authority.
    var authority: String { folder.path("ca") }
    /// Options of a proxy that trusts the server.
    var trusting: [String] { ["--server-ca", folder.path("ca.crt"), "--server-name", "chat.example.com"] }

    init() throws {
        folder = try Folder()
        let curve = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        try run(
            """
            openssl req -x509 \(curve) -days 30 -subj '/CN=Test CA' -keyout ca.key -out ca.crt
            openssl req \(curve) -subj /CN=localhost -keyout server.key -out server.csr
            echo subjectAltName=DNS:localhost,DNS:chat.example.com > names
            openssl x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile names -out server.crt
            openssl req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout rsa.key -out rsa.csr
            openssl x509 -req -in rsa.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -extfile names -out rsa.crt
            '\(try Program.find("frametap").path)' ca create --ca ca
            cp ca/ca.pem proxy.pem
            """)
    }

    private func run(_ script: String) throws {
        let process = Process()
        process.executableURL = URL(filePath: "/bin/sh")
        process.arguments = ["-e", "-c", script]
        process.currentDirectoryURL = folder.url
        process.standardOutput = try folder.create("output")
        process.standardError = try folder.create("errors")
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Program.Failure(description: folder.text("errors")) }
    }
}
