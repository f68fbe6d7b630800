import NIOCore
import NIOSSL
import NIOTLS

/// The handler above TLS on a socket: reports the handshake's result, and turns what TLS reports later into what a socket without
/// TLS reports.
final class TLSEdge: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let leg: TLSRequest.Leg
    private var hasFlushed = false
    /// The handler below TLS.
    weak var wire: TLSWire?
    private var whenDone: ((TLSEdge, Result<String?, TLSFault>) -> Void)?
    /// Whether the other end closed its connection without a close_notify (RFC 8446 section 6.1): the data may be truncated.
    private(set) var isTruncated = false
    /// Whether the server has requested a certificate in its handshake.
    var certificate = TLSFault.CertificateRequest.none
    /// Why the connection broke after the handshake.
    private(set) var fault: TLSFault?

    /// - Parameter whenDone: called once with this handler and the protocol negotiated, or why the handshake failed.
    init(on leg: TLSRequest.Leg, whenDone: @escaping (TLSEdge, Result<String?, TLSFault>) -> Void) {
        (self.leg, self.whenDone) = (leg, whenDone)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event as? TLSUserEvent {
        case .handshakeCompleted(let negotiatedProtocol)?: complete(.success(negotiatedProtocol))
        case .shutdownCompleted?: break
        case nil: context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if case .uncleanShutdown? = error as? NIOSSLError {
            isTruncated = true
            return
        }
        guard whenDone == nil else { return complete(.failure(TLSFault(error, on: leg))) }
        if error is NIOSSLError || error is BoringSSLError {
            fault = TLSFault(error, on: leg, isLate: true, certificate)
        }
        // TLS passes on what it has decrypted at the end of a reading, which does not come any more. That may fail, too.
        if !hasFlushed {
            hasFlushed = true
            wire?.context?.fireChannelReadComplete()
        }
        context.fireErrorCaught(error)
    }

    func channelInactive(context: ChannelHandlerContext) {
        fail()
        context.fireChannelInactive()
    }

    /// A channel that was closed before this was added reports no end.
    func handlerRemoved(context: ChannelHandlerContext) { fail() }

    private func fail() {
        guard whenDone != nil else { return }
        let end = leg == .client ? "client" : "server"
        complete(.failure(TLSFault(text: "the \(end) closed the connection during the handshake")))
    }

    private func complete(_ result: Result<String?, TLSFault>) {
        let whenDone = whenDone
        self.whenDone = nil
        whenDone?(self, result)
    }
}
