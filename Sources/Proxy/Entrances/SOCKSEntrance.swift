import NIOCore
import NIOSOCKS

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// What a client says to a SOCKS server (RFC 1928), up to which server it wants, and what it is answered.
///
/// NIOSOCKS reads and writes the messages; this decides. Anybody may ask for CONNECT without authentication. Whoever wants
/// something else is told so by the reply's code.
final class SOCKSEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ClientMessage
    typealias OutboundOut = ServerMessage

    private let gate = SOCKSGate()
    private let messages = SOCKSServerHandshakeHandler()
    private let channel: any Channel
    private var done: ((Result<HostPort, EntryFault>) -> Void)?
    private var context: ChannelHandlerContext?

    /// Serves the client of a channel.
    init(_ channel: any Channel) {
        self.channel = channel
    }

    /// Takes its place in the channel's pipeline, before the relay's end.
    ///
    /// - Parameter done: called once, with the server that the client wants, or with what is wrong; then the client has had
    ///   its answer, if there is one that SOCKS can give.
    func begin(before relay: RelayHandler, _ done: @escaping (Result<HostPort, EntryFault>) -> Void) throws {
        self.done = done
        // From the network to the relay: gate, NIOSOCKS, this.
        try channel.pipeline.syncOperations.addHandlers([gate, messages, self], position: .before(relay))
    }

    /// Leaves the pipeline; what the client sent behind its request goes to the relay.
    func end() {
        let pipeline = channel.pipeline.syncOperations
        // This first: NIOSOCKS passes on what it holds when it goes, even where that is nothing.
        pipeline.removeHandler(self, promise: nil)
        pipeline.removeHandler(messages, promise: nil)
        pipeline.removeHandler(gate, promise: nil)
    }

    /// Answers the request; the connection is then the server's, or is to be closed.
    func reply(_ code: SOCKSServerReply, bound: SocketAddress?) -> EventLoopFuture<Void> {
        let written = channel.eventLoop.makePromise(of: Void.self)
        guard let context else {
            written.fail(ChannelError.ioOnClosedChannel)
            return written.futureResult
        }
        var address = SOCKSAddress.address(Self.unspecified)
        switch bound {
        case .v4?, .v6?: if let bound { address = .address(bound) }
        case .unixDomainSocket?, nil: break
        }
        let response = ServerMessage.response(SOCKSResponse(reply: code, boundAddress: address))
        context.writeAndFlush(wrapOutboundOut(response), promise: written)
        return written.futureResult
    }

    /// 0.0.0.0:0, which is written where there is no address to tell.
    private static let unspecified = SocketAddress(sockaddr_in())

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
        done = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .greeting(let greeting):
            let isOpen = greeting.methods.contains(.noneRequired)
            let method = SelectedAuthenticationMethod(method: isOpen ? .noneRequired : .noneAcceptable)
            context.writeAndFlush(wrapOutboundOut(.selectedAuthenticationMethod(method)), promise: nil)
            if !isOpen {
                finish(.failure(EntryFault("the SOCKS client insists on authentication, and there is none here")))
            }
        case .request(let request):
            gate.close()
            guard request.command == .connect else {
                _ = reply(.commandUnsupported, bound: nil)
                finish(
                    .failure(EntryFault("the SOCKS client asked for command \(request.command.value), not for CONNECT"))
                )
                return
            }
            switch request.addressType {
            case .address(let address):
                finish(.success(HostPort(host: address.ipAddress ?? "", port: address.port ?? 0)))
            case .domain(let name, let port): finish(.success(HostPort(host: name, port: port)))
            }
        case .authenticationData:
            finish(.failure(EntryFault("the SOCKS client authenticates without having been asked")))
        }
    }

    private func finish(_ result: Result<HostPort, EntryFault>) {
        gate.close()
        defer { done = nil }
        done?(result)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let words = Self.words(for: error) else { return context.fireErrorCaught(error) }
        if error is SOCKSError.InvalidAddressType {
            // NIOSOCKS does not answer what it cannot read.
            var buffer = channel.allocator.buffer(capacity: 10)
            buffer.writeBytes([5, SOCKSServerReply.addressUnsupported.value, 0, 1, 0, 0, 0, 0, 0, 0])
            writeBefore(buffer)
        }
        finish(.failure(EntryFault(words)))
    }

    /// Writes bytes that are no message of NIOSOCKS.
    private func writeBefore(_ buffer: ByteBuffer) {
        guard let context = try? channel.pipeline.syncOperations.context(handler: gate) else { return }
        context.writeAndFlush(NIOAny(buffer), promise: nil)
    }

    /// What is wrong with what the client said; nil where the error is not about that.
    private static func words(for error: any Error) -> String? {
        switch error {
        case let version as SOCKSError.InvalidProtocolVersion: "the client speaks SOCKS \(version.actual), not 5"
        case let type as SOCKSError.InvalidAddressType: "the SOCKS client asked for an address of type \(type.actual)"
        case is SOCKSError.InvalidReservedByte, is SOCKSError.UnexpectedRead, is SOCKSError.InvalidServerState:
            "the client does not speak SOCKS 5: \(error)"
        default: nil
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { finish(.failure(Self.ended)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        context.fireChannelInactive()
        finish(.failure(Self.ended))
    }

    private static let ended = EntryFault("the client was gone before it said which server it wants")
}
