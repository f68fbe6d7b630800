import NIOCore
import NIOHTTP1
import NIOPosix
import NIOWebSocket

/// Answers requests of HTTP/1.1 (RFC 9112) on an address of this machine.
package final class ControlServer: Sendable {
    private let channel: any Channel
    /// Where it listens.
    package let host: String
    package let port: Int

    private init(_ channel: any Channel) {
        self.channel = channel
        (host, port) = (channel.localAddress?.ipAddress ?? "", channel.localAddress?.port ?? 0)
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - host: a name or an address.
    ///   - port: 0 lets the system choose.
    ///   - upgraders: makes what takes a connection over that asks for another protocol.
    ///   - answer: answers a request.
    package static func start(
        host: String, port: Int,
        upgraders: @escaping @Sendable () -> [any HTTPServerProtocolUpgrader & Sendable] = { [] },
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) async throws -> ControlServer {
        let address = try await NIOThreadPool.singleton.runIfActive {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let (pipeline, upgraders) = (channel.pipeline.syncOperations, upgraders())
                    // What is read after an upgrade is no request any more.
                    let upgrade: NIOHTTPServerUpgradeConfiguration = (
                        upgraders, { $0.pipeline.removeHandler(name: RequestHandler.name, promise: nil) }
                    )
                    try pipeline.configureHTTPServerPipeline(
                        withServerUpgrade: upgraders.isEmpty ? nil : upgrade, withErrorHandling: true)
                    try pipeline.addHandler(RequestHandler(answer), name: RequestHandler.name)
                }
            }
            .bind(to: address).get()
        return ControlServer(channel)
    }

    /// Stops listening.
    package func close() { channel.close(promise: nil) }
}

/// Collects a request, and writes its response.
private final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Its name in the pipeline.
    static let name = "requests"
    /// The largest body.
    private static let largest = 4 << 20

    private let answer: @Sendable (HTTPRequest) async -> HTTPResponse
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []
    private var isTooLarge = false

    init(_ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) { self.answer = answer }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): (self.head, body, isTooLarge) = (head, [], false)
        case .body(let part):
            isTooLarge = isTooLarge || body.count + part.readableBytes > Self.largest
            if !isTooLarge { body += part.readableBytesView }
        case .end: respond(context)
        }
    }

    private func respond(_ context: ChannelHandlerContext) {
        guard let head else { return }
        self.head = nil
        let keepsAlive = head.isKeepAlive
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        func write(_ response: HTTPResponse) {
            let (handler, context) = bound.value
            handler.write(response, to: head, keepsAlive: keepsAlive, context)
        }
        if isTooLarge {
            return write(
                HTTPResponse(.payloadTooLarge, text: "the body has more than \(Self.largest) bytes\n"))
        }
        guard let request = HTTPRequest(head, body: body) else {
            return write(HTTPResponse(.badRequest, text: "the request's target is not one\n"))
        }
        body = []
        let (answer, eventLoop) = (answer, context.eventLoop)
        Task {
            let response = await answer(request)
            eventLoop.execute {
                let (handler, context) = bound.value
                handler.write(response, to: head, keepsAlive: keepsAlive, context)
            }
        }
    }

    private func write(
        _ response: HTTPResponse, to head: HTTPRequestHead, keepsAlive: Bool, _ context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        var headers = HTTPHeaders([
            ("Content-Type", response.contentType), ("Content-Length", "\(response.body.count)"),
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ])
        for header in response.headers { headers.add(name: header.name, value: header.value) }
        if response.status == .noContent || response.follow != nil { headers.remove(name: "Content-Length") }
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        context.write(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: response.status, headers: headers))),
            promise: nil)
        if let follow = response.follow { return self.follow(follow, context) }
        if head.method != .HEAD, response.status != .noContent {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        let done = context.eventLoop.makePromise(of: Void.self)
        if !keepsAlive {
            let channel = context.channel
            done.futureResult.whenComplete { _ in channel.close(promise: nil) }
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
    }

    /// Writes a body as it comes. The connection serves nothing else after that.
    private func follow(_ follow: @escaping HTTPResponse.Follow, _ context: ChannelHandlerContext) {
        context.flush()
        let channel = context.channel
        let task = Task {
            try? await follow { bytes in
                try await channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: bytes))))
            }
            try? await channel.writeAndFlush(HTTPServerResponsePart.end(nil))
            channel.close(promise: nil)
        }
        channel.closeFuture.whenComplete { _ in task.cancel() }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A WebSocket that is refused is a request like any other, and answered.
        if error is NIOWebSocketUpgradeError { return }
        context.close(promise: nil)
    }
}
