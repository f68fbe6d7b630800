import Foundation
import TestSupport
import Testing

/// `frametap proxy --tls intercept` between other TLS libraries than Python's, with every cipher suite that BoringSSL has.
@Suite struct TLSPeersTests {
    private let files: Identities

    init() throws { files = try Identities() }

    /// The suites, as OpenSSL calls them, with the key that the server needs.
    private static let suites =
        ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "AES128-SHA", "AES256-SHA", "CHACHA20-POLY1305"].flatMap {
            ["ECDHE-ECDSA-\($0)", "ECDHE-RSA-\($0)"] + ($0.hasPrefix("CHACHA") ? [] : [$0])
        } + ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"]

    private static func options(_ suite: String) -> [String] {
        suite.hasPrefix("TLS_") ? ["-tls1_3", "-ciphersuites", suite] : ["-tls1_2", "-cipher", suite]
    }

    private func proxy(to servers: [Int]) async throws -> (program: ProxyProgram, ports: [Int]) {
        let pairs =
            servers.flatMap { _ in ["--listen", "127.0.0.1:0"] } + servers.flatMap { ["--to", "127.0.0.1:\($0)"] }
        let tls = ["--format", "line", "--tls", "intercept", "--ca", files.authority] + files.trusting
        let program = try await ProxyProgram(pairs + tls)
        try await eventually("all listen") {
            program.program.errors.matches(of: /listening on/).count == servers.count
        }
        let ports = program.program.errors.matches(of: /listening on 127\.0\.0\.1:(\d+)/).compactMap { Int($0.1) }
        return (program, ports)
    }

    private func server(_ identity: String, _ options: [String]) async throws -> (program: Program, port: Int) {
        let server = try Program(
            "openssl",
            [
                "s_server", "-4", "-accept", "0", "-cert", files.folder.path("\(identity).crt"),
                "-key", files.folder.path("\(identity).key"), "-rev",
            ] + options)
        return (server, try #require(Int(try await server.match(/ACCEPT 0.0.0.0:(\d+)\n/))))
    }

    /// Says a word to a server that says it backwards; returns what OpenSSL prints of the connection.
    private func ask(_ port: Int, _ options: [String]) async throws -> String {
        let client = try Program(
            "openssl",
            [
                "s_client", "-connect", "127.0.0.1:\(port)", "-servername", "chat.example.com",
                "-verify_return_error", "-CAfile", files.folder.path("proxy.pem"),
                "-verify_hostname", "chat.example.com",
            ] + options)
        try client.send("stressed")
        _ = try await client.match(/(desserts)\n/)
        try client.endInput()
        _ = try await client.exitStatus()
        return client.output
    }

    /// The same suite on both sides, for which the client needs a certificate of the same kind as the server's.
    @Test func everySuite() async throws {
        var servers: [(program: Program, port: Int)] = []
        for suite in Self.suites {
            let isECDSA = suite.hasPrefix("ECDHE-ECDSA") || suite.hasPrefix("TLS_")
            servers.append(try await server(isECDSA ? "server" : "rsa", Self.options(suite)))
        }
        let (proxy, ports) = try await proxy(to: servers.map(\.port))
        try #require(ports.count == Self.suites.count)
        for (suite, port) in zip(Self.suites, ports) {
            #expect(try await ask(port, Self.options(suite)).contains("Cipher is \(suite)\n"), "\(suite)")
        }
        let trace = try await proxy.stop()
        let names = trace.filter { $0.event == "tls" }.compactMap { $0["suite"] }
        #expect(Set(names).count == Self.suites.count && names.count == Self.suites.count, "\(names)")
        #expect(trace.count { $0.event == "frame" } == 2 * Self.suites.count)
    }

    /// A client of TLS 1.3 that verifies RSA only gets such a certificate, whatever the server has.
    @Test func signaturesByRSAOnly() async throws {
        let server = try await server("server", ["-tls1_3"])
        let (proxy, ports) = try await proxy(to: [server.port])
        let seen = try await ask(ports[0], ["-tls1_3", "-sigalgs", "rsa_pss_rsae_sha256"])
        #expect(seen.contains("Peer signature type: RSA-PSS"), "\(seen)")
        _ = try await proxy.stop()
    }

    @Test(arguments: ["NORMAL", "NORMAL:-VERS-TLS1.3"]) func gnuTLS(priority: String) async throws {
        let (server, port) = try await Program.serving("gnutls-serv", ready: nil) {
            [
                "--echo", "--port", "\($0)", "--x509certfile", files.folder.path("server.crt"),
                "--x509keyfile", files.folder.path("server.key"), "--priority", priority,
            ]
        }
        defer { server.signal(SIGKILL) }
        let (proxy, _) = try await proxy(to: [port])
        let client = try Program(
            "gnutls-cli",
            [
                "--x509cafile", files.folder.path("proxy.pem"), "--port", "\(proxy.port)",
                "--sni-hostname", "chat.example.com", "--verify-hostname", "chat.example.com", "--priority", priority,
                "127.0.0.1",
            ])
        try client.send("to and fro")
        _ = try await client.match(/\n(to and fro)\n/)
        try client.endInput()
        #expect(try await client.exitStatus() == 0)
        let trace = try await proxy.stop()
        #expect(trace.filter { $0.event == "frame" }.count == 2, "\(trace.map(\.text))")
    }
}
