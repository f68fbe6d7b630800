import NIOCore
import NIOSSL
import Streams
import TLS

extension ProxyContext {
    /// Begins a handshake on a socket.
    ///
    /// - Parameter whenDone: called once, on the socket's event loop.
    /// - Throws: `TLSFault` if there is no context for it.
    func secure(
        _ channel: any Channel, _ request: TLSRequest, _ whenDone: @escaping (Result<TLSOutcome, TLSFault>) -> Void
    ) throws -> (wire: TLSWire, edge: TLSEdge) {
        let context = try tlsContexts(of: channel.eventLoop).context(for: request)
        let tls: NIOSSLHandler
        switch request.leg {
        case .client:
            tls =
                request.requestsCertificate
                ? NIOSSLServerHandler(context: context) { _, promise in promise.succeed(.certificateVerified) }
                : NIOSSLServerHandler(context: context)
        case .server:
            // An address cannot be sent as a name: the certificate is verified against the address connected to.
            let name = request.names.first.flatMap { IPAddress(text: $0) == nil ? $0 : nil }
            do {
                tls = try NIOSSLClientHandler(context: context, serverHostname: name)
            } catch {
                throw TLSFault(text: "\(name ?? "") cannot be sent as a server name: \(error)")
            }
        }
        let hellos = HelloWatch(on: request.leg)
        let wire = TLSWire(tap: hellos)
        let edge = TLSEdge(on: request.leg) { [weak tls] result in
            whenDone(
                result.map { negotiated in
                    var outcome = TLSOutcome(applicationProtocol: negotiated)
                    outcome.version = hellos.hello?.version
                    outcome.cipherSuite = hellos.hello.map { "\($0.cipherSuite)" }
                    outcome.certificate = try? tls?.peerCertificate?.toDERBytes()
                    return outcome
                })
        }
        // TLS last: it begins when it is added.
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(wire, position: .first)
        try pipeline.addHandler(edge, position: .after(wire))
        try pipeline.addHandler(tls, position: .after(wire))
        return (wire, edge)
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
