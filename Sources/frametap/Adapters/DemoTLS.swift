import Certificates
import Platform
import Proxy
import Streams

/// TLS for a demonstration: what encrypts the reference peers' connections on both sides of the proxy, and what the proxy needs to
/// see inside. Its certificate authority exists only as long as the process.
struct DemoTLS {
    private let authority: CertificateAuthority
    private let identity: @Sendable ([String], [UInt8]?, TLSOptions.KeyKind) throws -> TLSOptions.Identity

    /// A new authority.
    init() throws {
        authority = try CertificateAuthority.create(label: "demo", now: .now)
        identity = try InterceptionOptions.issuer(authority)
    }

    /// The settings of a proxy that intercepts.
    var interception: TLSOptions { options(.intercept) }

    /// Puts TLS in front of a server; returns where, and the proxy that does it.
    func serve(_ server: HostPort) async throws -> (address: HostPort, proxy: ProxyServer)? {
        try await relay(to: server, .server)
    }

    /// Encrypts what clients send to a server; returns where they connect to, and the proxy that does it.
    func connect(to server: HostPort) async throws -> (address: HostPort, proxy: ProxyServer)? {
        try await relay(to: server, .client)
    }

    private func relay(
        to server: HostPort, _ mode: TLSOptions.Mode
    ) async throws -> (address: HostPort, proxy: ProxyServer)? {
        var settings = ProxyOptions(listen: HostPort(host: "127.0.0.1", port: 0), to: server)
        settings.tls = options(mode)
        // Nobody records what is in front of and behind the proxy that is shown.
        let proxy = ProxyServer(settings, queue: RecordingQueue(limit: 0))
        guard case .tcp(let address)? = try await proxy.startListening().first else { return nil }
        return (address, proxy)
    }

    private func options(_ mode: TLSOptions.Mode) -> TLSOptions {
        var options = TLSOptions()
        options.mode = mode
        options.trust = .certificates([authority.certificate.der])
        options.describe = { TLSFacts.Certificate(der: $0) }
        options.identity = identity
        return options
    }
}
