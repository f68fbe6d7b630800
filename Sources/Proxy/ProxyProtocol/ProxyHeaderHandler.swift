import NIOCore

/// Takes the header of the PROXY protocol off the beginning of what a client sends.
///
/// It reads on its own account, since the relay's end behind it does not read before there is a server. What comes behind
/// the header is passed on when this handler is removed.
final class ProxyHeaderHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer

    private var held = ByteBuffer()
    private var done: ((Result<ProxyHeader, ProxyHeaderFault>) -> Void)?

    /// - Parameter done: called once, with the header or what is wrong.
    init(_ done: @escaping (Result<ProxyHeader, ProxyHeaderFault>) -> Void) {
        self.done = done
    }

    private func finish(_ result: Result<ProxyHeader, ProxyHeaderFault>) {
        defer { done = nil }
        done?(result)
    }

    func channelActive(context: ChannelHandlerContext) {
        context.fireChannelActive()
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var buffer = unwrapInboundIn(data)
        held.writeBuffer(&buffer)
        guard done != nil else { return }
        let result = Result { () throws(ProxyHeaderFault) in
            try held.withHeaderBytes { (bytes: RawSpan) throws(ProxyHeaderFault) in try ProxyHeader.read(bytes) }
        }
        switch result {
        case .success(nil): return
        case .success((let header, let byteCount)?):
            held.moveReaderIndex(forwardBy: byteCount)
            finish(.success(header))
        case .failure(let fault): finish(.failure(fault))
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        context.fireChannelReadComplete()
        if done != nil { context.read() }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        context.fireUserInboundEventTriggered(event)
        if case .inputClosed? = event as? ChannelEvent { finish(.failure(ended)) }
    }

    func channelInactive(context: ChannelHandlerContext) {
        context.fireChannelInactive()
        finish(.failure(ended))
    }

    private var ended: ProxyHeaderFault {
        ProxyHeaderFault("the client was gone after \(held.readableBytes) bytes of a PROXY protocol header")
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        done = nil
        if held.readableBytes > 0 { context.fireChannelRead(wrapInboundOut(held)) }
    }
}

extension ProxyHeaderHandler {
    typealias InboundOut = ByteBuffer
}

extension ByteBuffer {
    /// The readable bytes as a span.
    fileprivate func withHeaderBytes<Result>(
        _ use: (RawSpan) throws(ProxyHeaderFault) -> Result
    ) throws(ProxyHeaderFault) -> Result {
        // A closure of `withUnsafeReadableBytes` cannot say what it throws.
        let result = withUnsafeReadableBytes { bytes in
            Swift.Result { () throws(ProxyHeaderFault) in try use(bytes.bytes) }
        }
        return try result.get()
    }
}
