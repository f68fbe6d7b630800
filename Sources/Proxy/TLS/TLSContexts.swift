import NIOCore
import NIOSSL
import Synchronization
import TLS

/// The TLS contexts of one event loop: making one takes far longer than a handshake needs of it, so each is kept for all
/// connections that ask for the same.
///
/// One for each event loop, so that the secrets that a context reports belong to the handshake that is being carried out.
final class TLSContexts: Sendable {
    /// The contexts of one leg, by what they are for.
    private struct Kept {
        /// At most this many: a client chooses what its context is for, and one for servers has the system's authorities.
        let capacity: Int
        var contexts: [TLSRequest: (context: NIOSSLContext, made: NIODeadline)] = [:]
        /// The oldest first.
        var order: [TLSRequest] = []

        init(capacity: Int) { self.capacity = capacity }

        mutating func keep(_ context: NIOSSLContext, for request: TLSRequest, at now: NIODeadline) {
            if contexts[request] == nil {
                if order.count >= capacity { contexts[order.removeFirst()] = nil }
                order.append(request)
            }
            contexts[request] = (context, now)
        }
    }

    private struct State {
        var client = Kept(capacity: 1_000)
        var server = Kept(capacity: 64)
    }

    /// How long a context is kept: its certificate is issued anew before it expires.
    private static let lifetime = TimeAmount.hours(12)

    private let options: TLSOptions
    private let state = Mutex(State())
    private let lines = Mutex<[UInt8]>([])

    init(_ options: TLSOptions) { self.options = options }

    /// The context for a handshake.
    ///
    /// - Throws: `TLSFault` if a file of certificates cannot be read, or no identity be made.
    func context(for request: TLSRequest) throws(TLSFault) -> NIOSSLContext {
        // The server's name is not part of a client's context.
        var key = request
        if key.leg == .server { key.names = [] }
        let now = NIODeadline.now()
        let known = state.withLock { key.leg == .client ? $0.client.contexts[key] : $0.server.contexts[key] }
        if let known, now < known.made + Self.lifetime { return known.context }
        let made = try make(request)
        state.withLock { state in
            if key.leg == .client {
                state.client.keep(made, for: key, at: now)
            } else {
                state.server.keep(made, for: key, at: now)
            }
        }
        return made
    }

    /// Reads the files that the options name.
    ///
    /// - Throws: `TLSFault` if one has no certificate, or no key.
    static func check(_ options: TLSOptions) throws(TLSFault) {
        var certificates: [String] = []
        if case .file(let path) = options.trust { certificates.append(path) }
        if let files = options.clientIdentity {
            certificates.append(files.certificates)
            guard (try? NIOSSLPrivateKey(file: files.key, format: .pem)) != nil else {
                throw TLSFault(text: "\(files.key) has no private key; expected one in PEM, without a passphrase")
            }
        }
        for path in certificates where ((try? NIOSSLCertificate.fromPEMFile(path)) ?? []).isEmpty {
            throw TLSFault(text: "\(path) has no certificate; expected PEM")
        }
        guard let files = options.clientIdentity else { return }
        do {
            try withExtendedLifetime(TLSContexts(options)) { _ = try $0.context(for: TLSRequest(leg: .server)) }
        } catch {
            throw TLSFault(text: "\(files.key) does not have the key of the certificate in \(files.certificates)")
        }
    }

    /// The secrets reported since the last call, as lines of a key log.
    func takeKeyLines() -> [UInt8] {
        lines.withLock { lines in
            defer { lines = [] }
            return lines
        }
    }

    private func make(_ request: TLSRequest) throws(TLSFault) -> NIOSSLContext {
        do {
            var configuration =
                switch request.leg {
                case .client: try serverConfiguration(request)
                case .server: try clientConfiguration()
                }
            configuration.minimumTLSVersion = TLSVersion(min(options.minimum, request.maximum))
            configuration.maximumTLSVersion = TLSVersion(request.maximum)
            configuration.applicationProtocols = request.protocols
            // Ends are passed on as they come: nothing waits long for the other end's close_notify.
            configuration.shutdownTimeout = .milliseconds(200)
            configuration.keyLogCallback = { [options, weak self] line in
                let line = Array(line.readableBytesView)
                self?.lines.withLock { $0 += line }
                options.keyLog?(line)
            }
            return try NIOSSLContext(configuration: configuration)
        } catch let fault as TLSFault {
            throw fault
        } catch {
            throw TLSFault(text: TLSFault.text(error))
        }
    }

    private func serverConfiguration(_ request: TLSRequest) throws -> TLSConfiguration {
        guard let identity = try options.identity?(request.names, request.model, request.key) else {
            throw TLSFault(text: "there is no certificate to show to clients")
        }
        let chain = try identity.certificates.map {
            NIOSSLCertificateSource.certificate(try NIOSSLCertificate(bytes: $0, format: .der))
        }
        let key = NIOSSLPrivateKeySource.privateKey(try NIOSSLPrivateKey(bytes: identity.key, format: .der))
        var configuration = TLSConfiguration.makeServerConfiguration(certificateChain: chain, privateKey: key)
        // Whatever the client shows is accepted: the server verifies what the proxy shows.
        if request.requestsCertificate { configuration.certificateVerification = .optionalVerification }
        return configuration
    }

    private func clientConfiguration() throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        switch options.trust {
        case .system: break
        case .file(let path): configuration.trustRoots = .file(path)
        case .certificates(let trusted):
            configuration.trustRoots = .certificates(try trusted.map { try NIOSSLCertificate(bytes: $0, format: .der) })
        case .nothing: configuration.certificateVerification = .none
        }
        if let files = options.clientIdentity {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(files.certificates)
                .map { .certificate($0) }
            configuration.privateKey = .privateKey(try NIOSSLPrivateKey(file: files.key, format: .pem))
        }
        return configuration
    }
}

extension TLSVersion {
    /// The version by its number; the oldest or newest one where there is none.
    init(_ version: ProtocolVersion) {
        self =
            switch version {
            case ...ProtocolVersion.tls10: .tlsv1
            case ProtocolVersion.tls11: .tlsv11
            case ProtocolVersion.tls12: .tlsv12
            default: .tlsv13
            }
    }
}
