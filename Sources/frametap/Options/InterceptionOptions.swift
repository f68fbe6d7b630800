import ArgumentParser
import Certificates
import Platform
import Proxy
import Streams
import Synchronization
import TLS

/// What a proxy does with TLS.
struct InterceptionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "pass: relay TLS untouched. intercept: decrypt it, and encrypt it anew to the server. client: clients speak plaintext, the server TLS. server: clients speak TLS, the server plaintext.",
            valueName: "mode"))
    var tls = TLSOptions.Mode.pass

    @OptionGroup var authority: AuthorityOptions

    @Option(
        help: ArgumentHelp(
            "Verify servers against the CAs in this PEM file, instead of the system's.", valueName: "file"),
        completion: .file())
    var serverCa: String?

    @Option(
        help: ArgumentHelp(
            "The name to send to servers, and to verify them by. By default, the one that the client sends, or the host of --to.",
            valueName: "name")
    )
    var serverName: String?

    @Flag(help: "Accept any server certificate. Every connection's tls event says so.")
    var insecureServer = false

    @Option(
        help: ArgumentHelp(
            "The certificate that servers are shown if they request one: a PEM file with chain and key, or two files separated by a comma.",
            valueName: "file"), completion: .file())
    var clientCert: String?

    @Option(help: ArgumentHelp("The oldest TLS version on either side: 1.0 to 1.3.", valueName: "version"))
    var tlsMin = MinimumVersion(version: .tls12)

    @Option(
        help: ArgumentHelp(
            "Relay the TLS of this host untouched: example.com or *.example.com; may be repeated.", valueName: "pattern"
        ))
    var ignoreHost: [HostPattern] = []

    @Option(
        help: ArgumentHelp(
            "Append the secrets of both sides' TLS connections to this file, in NSS key log format. By default, the file that SSLKEYLOGFILE names.",
            valueName: "file"), completion: .file())
    var keyLog: String?

    @Option(
        help: ArgumentHelp(
            "Write both sides' TLS as it is on the wire as a pcapng capture, with the secrets that decrypt it.",
            valueName: "file.pcapng"), completion: .file())
    var writeTLS: String?

    /// A value of `--tls-min`.
    struct MinimumVersion: ExpressibleByArgument {
        var version: ProtocolVersion

        init(version: ProtocolVersion) { self.version = version }

        init?(argument: String) {
            let versions: [String: ProtocolVersion] = ["1.0": .tls10, "1.1": .tls11, "1.2": .tls12, "1.3": .tls13]
            guard let version = versions[argument] else { return nil }
            self.version = version
        }

        var defaultValueDescription: String { "1.2" }
    }

    func validate() throws {
        if serverCa != nil, insecureServer {
            throw ValidationError("--server-ca verifies servers and --insecure-server does not: expected one of them")
        }
        if let serverName,
            InternetAddress.bits(ofIPv4: serverName) != nil || InternetAddress.halves(ofIPv6: serverName) != nil
        {
            throw ValidationError("--server-name is \(serverName), an address; expected a host name")
        }
        guard tls == .pass else { return }
        let unused = [
            ("--server-ca", serverCa != nil), ("--server-name", serverName != nil),
            ("--client-cert", clientCert != nil),
            ("--insecure-server", insecureServer), ("--ignore-host", !ignoreHost.isEmpty),
            ("--ca", authority.ca != nil), ("--write-tls", writeTLS != nil),
            ("--key-log", keyLog != nil),
        ].filter { $0.1 }
        if let (name, _) = unused.first {
            throw ValidationError("\(name) needs --tls intercept, client or server: TLS is relayed untouched otherwise")
        }
    }

    /// The files that are read: certificates and their keys.
    var files: [String] {
        [serverCa].compactMap { $0 } + (clientCert?.split(separator: ",", maxSplits: 1).map(String.init) ?? [])
    }

    /// The file for secrets, if TLS is decrypted and there is to be one.
    func keyLogFile() throws -> KeyLogFile? {
        guard tls != .pass, let path = keyLog ?? Environment["SSLKEYLOGFILE"], !path.isEmpty else { return nil }
        return try KeyLogFile(appendingTo: path)
    }

    /// The proxy's settings; the CA is created if it is needed and there is none.
    func options(_ keyLog: KeyLogFile?) throws -> TLSOptions {
        var options = TLSOptions()
        options.mode = tls
        guard tls != .pass else { return options }
        options.serverName = serverName
        options.minimum = tlsMin.version
        options.ignoredHosts = ignoreHost
        options.trust = insecureServer ? .nothing : try serverCa.map { .file(try Self.readable($0)) } ?? .system
        options.describe = { TLSFacts.Certificate(der: $0) }
        options.explain = { CertificateSummary(der: $0)?.flaw(for: $1, at: .now) }
        if let clientCert {
            let files = clientCert.split(separator: ",", maxSplits: 1).map(String.init)
            guard let first = files.first, let last = files.last else {
                throw CommandError("--client-cert is empty; expected a PEM file")
            }
            options.clientIdentity = TLSOptions.IdentityFiles(
                certificates: try Self.readable(first), key: try Self.readable(last))
        }
        if let keyLog { options.keyLog = { keyLog.append($0) } }
        if tls != .client {
            options.identity = try Self.issuer(try authority.folder().load(orCreate: true))
            options.nameFlaw = { Self.flaw(ofName: $0) }
        }
        return options
    }

    /// Why there is no certificate for a name; nil if there can be one.
    private static func flaw(ofName name: String) -> String? {
        do throws(LeafError) {
            _ = try CertificateName(requested: name)
            return nil
        } catch {
            return error.description
        }
    }

    /// Issues certificates, and keeps them.
    static func issuer(
        _ authority: CertificateAuthority
    ) throws -> @Sendable ([String], [UInt8]?, TLSOptions.KeyKind) throws -> TLSOptions.Identity {
        let ecdsa = Mutex(Issued(by: try LeafCertificates(of: authority)))
        // Few clients need it, and its key takes time.
        let rsa = Mutex<Issued?>(nil)
        return { names, server, key in
            let request = try server.map { try LeafRequest(like: $0, names: names) } ?? LeafRequest(names: names)
            switch key {
            case .ecdsa: return try ecdsa.withLock { try $0.identity(for: request) }
            case .rsa:
                return try rsa.withLock { issued in
                    var known = try issued ?? Issued(by: LeafCertificates(of: authority, key: .rsa))
                    defer { issued = known }
                    return try known.identity(for: request)
                }
            }
        }
    }

    /// The certificates for one key.
    private struct Issued {
        private let leaves: LeafCertificates
        private var cache = LeafCache()

        init(by leaves: LeafCertificates) { self.leaves = leaves }

        mutating func identity(for request: LeafRequest) throws(LeafError) -> TLSOptions.Identity {
            let leaf = try cache.leaf(for: request, now: .now) { [leaves] request throws(LeafError) in
                try leaves.issue(request, now: .now)
            }
            return TLSOptions.Identity(certificates: leaf.chain, key: leaves.privateKeyDER)
        }
    }

    /// A file that can be read.
    private static func readable(_ path: String) throws -> String {
        _ = try FileInput.contents(of: path, limit: 16 << 20)
        return path
    }
}

extension TLSOptions.Mode: ExpressibleByArgument {}

extension HostPattern: ExpressibleByArgument {
    /// Parses `example.com` or `*.example.com`.
    public init?(argument: String) { self.init(argument) }
}
