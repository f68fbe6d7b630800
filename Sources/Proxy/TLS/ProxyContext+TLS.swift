import NIOCore
import NIOSSL
import Streams
import TLS

extension ProxyContext {
    /// Begins a handshake on a socket.
    ///
    /// - Parameters:
    ///   - known: the socket's lowest handler, if it is there already.
    ///   - whenDone: called once, on the socket's event loop.
    /// - Throws: `TLSFault` if there is no context for it.
    func secure(
        _ channel: any Channel, _ request: TLSRequest, on known: TLSWire? = nil,
        _ whenDone: @escaping (Result<TLSOutcome, TLSFault>) -> Void
    ) throws -> (wire: TLSWire, edge: TLSEdge) {
        let contexts = tlsContexts(of: channel.eventLoop)
        let context = try contexts.context(for: request)
        let watch = HandshakeWatch(on: request.leg)
        let wire = known ?? TLSWire(watch, contexts: contexts, relays: relays)
        let tls: NIOSSLHandler
        switch request.leg {
        case .client:
            tls =
                request.requestsCertificate
                ? NIOSSLServerHandler(context: context) { [weak wire] _, promise in
                    if let wire { wire.accept(promise) } else { promise.succeed(.certificateVerified) }
                }
                : NIOSSLServerHandler(context: context)
        case .server:
            // An address cannot be sent as a name: the certificate is verified against the address connected to.
            let name = request.names.first.flatMap { IPAddress(text: $0) == nil ? $0 : nil }
            do {
                tls = try NIOSSLClientHandler(context: context, serverHostname: name)
            } catch {
                let quoted = String(reflecting: String((name ?? "").prefix(80)))
                throw TLSFault(text: "\(quoted) cannot be sent as a server name (--server-name)")
            }
        }
        if known == nil { wire.record = recording(of: channel, on: request.leg) } else { wire.beginHandshake(watch) }
        let explain = options.tls.explain
        let hasIdentity = options.tls.clientIdentity != nil
        func certificate(_ watch: HandshakeWatch) -> TLSFault.CertificateRequest {
            request.leg == .server && watch.requestsCertificate ? (hasIdentity ? .met : .unmet) : .none
        }
        func explained(_ fault: TLSFault, _ watch: HandshakeWatch, _ request: TLSRequest) -> TLSFault {
            if let alert = watch.alert ?? fault.alert { return TLSFault(alert, on: request.leg, certificate(watch)) }
            guard fault.isUnverified, let certificate = watch.certificate,
                let flaw = explain?(certificate, request.names.first)
            else { return fault }
            return TLSFault(text: "\(TLSFault.unverified): \(flaw) (--server-ca, --insecure-server)")
        }
        let edge = TLSEdge(on: request.leg) { [weak wire] edge, result in
            let finish = {
                edge.certificate = certificate(watch)
                whenDone(
                    result.map { TLSOutcome(watch, applicationProtocol: $0) }
                        .mapError { explained($0, watch, request) })
                wire?.endHandshake()
            }
            // The chunk that completes it may still have to be followed.
            if let wire { wire.whenTaken(finish) } else { finish() }
        }
        edge.wire = wire
        // TLS last: it begins when it is added.
        let pipeline = channel.pipeline.syncOperations
        if known == nil { try pipeline.addHandler(wire, position: .first) }
        try pipeline.addHandler(edge, position: .after(wire))
        try pipeline.addHandler(tls, position: .after(wire))
        return (wire, edge)
    }

    /// Records a socket that may change to TLS from its beginning; nil if ciphertext is not recorded.
    ///
    /// - Parameter early: what was read on it before.
    func wire(on channel: any Channel, of leg: TLSRequest.Leg, early: ByteBuffer) -> TLSWire? {
        guard let record = recording(of: channel, on: leg) else { return nil }
        record.received(early)
        let wire = TLSWire(nil, contexts: tlsContexts(of: channel.eventLoop), relays: relays)
        wire.record = record
        // The client's channel may not be active yet: with a server nearby, the connection to it is faster.
        guard (try? channel.pipeline.syncOperations.addHandler(wire, position: .first)) != nil else {
            record.closed()
            return nil
        }
        return wire
    }

    private func recording(of channel: any Channel, on leg: TLSRequest.Leg) -> CiphertextRecording? {
        ciphertext.map { CiphertextRecording($0, on: leg, ends(of: channel, on: leg)) }
    }
}

extension TLSFacts {
    /// Adds the result of the handshake with the server.
    mutating func learn(_ outcome: TLSOutcome) {
        version = outcome.version.map { "\($0)" }
        cipherSuite = outcome.cipherSuite
        applicationProtocol = outcome.applicationProtocol
    }
}

extension TLSOutcome {
    /// What a handshake has shown.
    fileprivate init(_ watch: HandshakeWatch, applicationProtocol: String?) {
        self.init(
            version: watch.negotiation?.version, cipherSuite: watch.negotiation.map { "\($0.cipherSuite)" },
            applicationProtocol: applicationProtocol, certificate: watch.certificate,
            requestsCertificate: watch.requestsCertificate,
            wire: PerDirection(fromClient: watch.counts(from: .fromClient), fromServer: watch.counts(from: .fromServer))
        )
    }
}
