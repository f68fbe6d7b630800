import NIOCore
import NIOPosix
import NIOSSL
import TestSupport
import Testing

/// `frametap proxy --tls intercept` between SwiftNIO's TLS at both ends, with ALPN on both.
@Suite struct NIOPeersTests {
    @Test(arguments: [TLSVersion.tlsv12, .tlsv13]) func swiftNIO(version: TLSVersion) async throws {
        let files = try Identities()
        var serving = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(files.folder.path("server.crt")).map {
                .certificate($0)
            },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: files.folder.path("server.key"), format: .pem)))
        serving.applicationProtocols = ["chat/2", "chat/1"]
        serving.maximumTLSVersion = version
        let serverContext = try NIOSSLContext(configuration: serving)
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLServerHandler(context: serverContext), EchoHandler())
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let proxy = try await ProxyProgram(
            to: try #require(server.localAddress?.port),
            ["--format", "line", "--tls", "intercept", "--ca", files.authority] + files.trusting)

        var asking = TLSConfiguration.makeClientConfiguration()
        asking.trustRoots = .file(files.folder.path("proxy.pem"))
        asking.applicationProtocols = ["chat/1", "chat/2"]
        let clientContext = try NIOSSLContext(configuration: asking)
        let answer = group.next().makePromise(of: String.self)
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        NIOSSLClientHandler(context: clientContext, serverHostname: "chat.example.com"),
                        AskingHandler("question\n", answer))
                }
            }
            .connect(host: "127.0.0.1", port: proxy.port).get()
        #expect(try await answer.futureResult.get() == "question\n")
        let negotiated = try await client.nioSSL_tlsVersion().get()
        #expect(negotiated == version)
        try await client.close()
        try await server.close()

        let trace = try await proxy.stop()
        let tls = try #require(trace.first { $0.event == "tls" })
        #expect(tls["protocol"] == "chat/1" || tls["protocol"] == "chat/2", "\(tls.text)")
        #expect(tls["version"] == (version == .tlsv12 ? "TLS 1.2" : "TLS 1.3"))
        #expect(trace.count { $0.event == "frame" } == 2)
        #expect(!trace.contains { $0.event == "finding" }, "\(trace.map(\.text))")
    }
}

/// Sends back what it receives.
private final class EchoHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }
}

/// Sends a line, and receives one.
private final class AskingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let question: String
    private let answer: EventLoopPromise<String>
    private var received = ""

    init(_ question: String, _ answer: EventLoopPromise<String>) { (self.question, self.answer) = (question, answer) }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: question)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        received += String(buffer: unwrapInboundIn(data))
        if received.hasSuffix("\n") { answer.succeed(received) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        answer.fail(error)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { answer.fail(ChannelError.eof) }
}
