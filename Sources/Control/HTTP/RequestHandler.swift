import NIOCore
import NIOHTTP1
import NIOWebSocket

/// Collects a request, and writes its response. A connection on which no request is complete in time is closed.
final class RequestHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Its name in the pipeline.
    static let name = "requests"
    /// The largest body.
    private static let largest = 4 << 20

    private let limits: HTTPTimeLimits
    private let refusal: @Sendable (HTTPRequest) -> HTTPResponse?
    private let answer: @Sendable (HTTPRequest) async -> HTTPResponse
    private var head: HTTPRequestHead?
    /// How many requests have begun.
    private var begun = 0
    private var body: [UInt8] = []
    /// A response that was written before its request was complete: what follows of that is not collected.
    private var refused: EventLoopFuture<Void>?
    private var deadline: Scheduled<Void>?

    init(
        _ limits: HTTPTimeLimits, refusal: @escaping @Sendable (HTTPRequest) -> HTTPResponse?,
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) {
        (self.limits, self.refusal, self.answer) = (limits, refusal, answer)
    }

    func handlerAdded(context: ChannelHandlerContext) { close(in: limits.request, context) }

    func handlerRemoved(context: ChannelHandlerContext) { deadline?.cancel() }

    func channelInactive(context: ChannelHandlerContext) {
        deadline?.cancel()
        context.fireChannelInactive()
    }

    /// Closes the connection unless a request is complete by then.
    private func close(in time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        let channel = context.channel
        deadline = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            guard refused == nil else { return }
            close(in: limits.request, context)
            begun += 1
            (self.head, body) = (head, [])
            judge(head, context)
        case .body(let part):
            guard let head, refused == nil else { return }
            guard body.count + part.readableBytes <= Self.largest else { return refuse(Self.tooLarge, head, context) }
            body += part.readableBytesView
        case .end:
            deadline?.cancel()
            if let refused {
                let channel = context.channel
                refused.whenComplete { _ in channel.close(promise: nil) }
            } else {
                respond(context)
            }
        }
    }

    private static let tooLarge = HTTPResponse(
        .payloadTooLarge, text: "the body has more than \(largest) bytes\n")

    /// Refuses a request by its head: then nothing of its body is kept.
    private func judge(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        guard let request = HTTPRequest(head, body: []) else {
            return refuse(HTTPResponse(.badRequest, text: "the request's target is not one\n"), head, context)
        }
        if let response = refusal(request) { return refuse(response, head, context) }
        let length = head.headers.first(name: "content-length").flatMap { Int($0) } ?? 0
        if length > Self.largest { return refuse(Self.tooLarge, head, context) }
        // The client waits for that before it sends the body (RFC 9110 section 10.1.1).
        guard (head.version.major, head.version.minor) >= (1, 1),
            head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" })
        else { return }
        context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponseHead(version: head.version, status: .continue))), promise: nil)
    }

    private func refuse(_ response: HTTPResponse, _ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
        body = []
        // Closed once the request is complete: before, what is still on its way would reset the connection.
        refused = write(response, to: head, keepsAlive: false, context)
    }

    private func respond(_ context: ChannelHandlerContext) {
        guard let head, let request = HTTPRequest(head, body: body) else { return }
        (self.head, body) = (nil, [])
        let keepsAlive = head.isKeepAlive
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        let (answer, eventLoop) = (answer, context.eventLoop)
        Task {
            let response = await answer(request)
            eventLoop.execute {
                let (handler, context) = bound.value
                handler.complete(response, to: head, keepsAlive: keepsAlive, context)
            }
        }
    }

    private func complete(
        _ response: HTTPResponse, to head: HTTPRequestHead, keepsAlive: Bool, _ context: ChannelHandlerContext
    ) {
        guard context.channel.isActive else { return }
        if let follow = response.follow, head.method != .HEAD {
            write(headers(of: response, keepsAlive: false), of: response, to: head, context)
            return self.follow(follow, context)
        }
        // The next request may begin while this is written.
        let (number, staysOpen) = (begun, keepsAlive && response.follow == nil)
        let written = write(response, to: head, keepsAlive: staysOpen, context)
        let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
        written.whenComplete { result in
            let (handler, context) = bound.value
            guard staysOpen, case .success = result else { return context.close(promise: nil) }
            if handler.begun == number { handler.close(in: handler.limits.pause, context) }
        }
    }

    // MARK: Writing

    private func headers(of response: HTTPResponse, keepsAlive: Bool) -> HTTPHeaders {
        var headers = HTTPHeaders([
            ("Content-Type", response.contentType), ("Content-Length", "\(response.body.count)"),
            ("X-Content-Type-Options", "nosniff"), ("Cache-Control", "no-store"),
        ])
        for header in response.headers { headers.add(name: header.name, value: header.value) }
        if response.status == .noContent || response.follow != nil { headers.remove(name: "Content-Length") }
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        return headers
    }

    private func write(
        _ headers: HTTPHeaders, of response: HTTPResponse, to head: HTTPRequestHead, _ context: ChannelHandlerContext,
        promise: EventLoopPromise<Void>? = nil
    ) {
        let head = HTTPResponseHead(version: head.version, status: response.status, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: promise)
    }

    /// Writes a response that is known whole, and to `HEAD` only its head.
    private func write(
        _ response: HTTPResponse, to head: HTTPRequestHead, keepsAlive: Bool, _ context: ChannelHandlerContext
    ) -> EventLoopFuture<Void> {
        let headers = headers(of: response, keepsAlive: keepsAlive)
        let done = context.eventLoop.makePromise(of: Void.self)
        if response.follow != nil {
            // The end of a body of unknown length is a chunk, which must not follow a head alone.
            write(headers, of: response, to: head, context, promise: done)
            context.flush()
            return done.futureResult
        }
        write(headers, of: response, to: head, context)
        if head.method != .HEAD, response.status != .noContent {
            context.write(wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: response.body)))), promise: nil)
        }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: done)
        return done.futureResult
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
