import NIOCore
import NIOPosix
import Streams
import Synchronization

/// A connection to a server whose answers are taken when they are wanted.
package final class ServerConnection: Sendable {
    /// What arrived.
    package enum Arrival: Sendable {
        case bytes([UInt8])
        case ended(Ending)
    }

    private let channel: any Channel
    private let inbox: Inbox

    private final class Inbox: Sendable {
        let arrivals = Mutex<[Arrival]>([])
        func add(_ arrival: Arrival) { arrivals.withLock { $0.append(arrival) } }
    }

    private init(_ channel: any Channel, _ inbox: Inbox) { (self.channel, self.inbox) = (channel, inbox) }

    /// Connects.
    package static func open(host: String, port: Int, timeout: Interval) async throws -> ServerConnection {
        let inbox = Inbox()
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(.allowRemoteHalfClosure, value: true)
            .connectTimeout(.nanoseconds(timeout.nanoseconds))
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(ArrivalHandler(inbox))
                }
            }
            .connect(host: host, port: port).get()
        return ServerConnection(channel, inbox)
    }

    /// The connection's ends.
    package var ends: (client: Endpoint, server: Endpoint) {
        (Self.endpoint(channel.localAddress), Self.endpoint(channel.remoteAddress))
    }

    private static func endpoint(_ address: SocketAddress?) -> Endpoint {
        let port = UInt16(truncatingIfNeeded: address?.port ?? 0)
        let parts = (address?.ipAddress ?? "").split(separator: ".").compactMap { UInt32($0) }
        guard parts.count == 4 else { return Endpoint(IPAddress(v4: 0), port) }
        return Endpoint(IPAddress(v4: parts.reduce(0) { $0 << 8 | $1 }), port)
    }

    /// Sends bytes in one write, and does not wait until the server takes them.
    package func write(_ bytes: [UInt8]) { channel.writeAndFlush(ByteBuffer(bytes: bytes), promise: nil) }

    /// What has arrived since the last call.
    package func take() -> [Arrival] {
        inbox.arrivals.withLock { arrivals in
            defer { arrivals = [] }
            return arrivals
        }
    }

    /// Ends this side; the server's bytes still arrive.
    package func finish() async throws { try await channel.close(mode: .output) }

    package func close() { channel.close(promise: nil) }

    private final class ArrivalHandler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer

        private let inbox: Inbox
        private var hasEnded = false

        init(_ inbox: Inbox) { self.inbox = inbox }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            inbox.add(.bytes(Array(unwrapInboundIn(data).readableBytesView)))
        }

        func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
            guard case ChannelEvent.inputClosed = event else { return context.fireUserInboundEventTriggered(event) }
            end(.fin)
        }

        func errorCaught(context: ChannelHandlerContext, error: any Error) {
            end(.reset)
            context.close(promise: nil)
        }

        func channelInactive(context: ChannelHandlerContext) { end(.fin) }

        private func end(_ ending: Ending) {
            if hasEnded { return }
            hasEnded = true
            inbox.add(.ended(ending))
        }
    }
}
