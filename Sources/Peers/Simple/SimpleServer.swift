import NIOCore
import NIOPosix
import Streams

/// A listening socket in front of a machine.
enum SimpleServer {
    /// Serves until the task is cancelled (`ReferencePeer.serve`).
    ///
    /// - Parameter worker: does the machine's work, if it has any.
    static func run<Machine: PeerMachine>(
        _ machine: sending Machine, at address: PeerAddress, options: PeerOptions,
        bound: @Sendable (Endpoint) -> Void, log: @escaping PeerLog,
        worker: @escaping MachineRunner<Machine>.Worker = { _ in }
    ) async throws {
        let runner = MachineRunner(machine, log: log, worker: worker)
        let limit = MachineRunner<Machine>.unsentLimit
        let listener = try await ServerBootstrap(group: runner.loop)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: options.noDelay ? 1 : 0)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: limit / 4, high: limit))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let size = options.readSize {
                        try channel.syncOptions?.setOption(
                            .recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
                    }
                    try channel.pipeline.syncOperations.addHandler(MachineHandler(runner))
                }
            }
            .bind(host: address.host, port: address.port).get()
        if let endpoint = Endpoint(listener.localAddress) { bound(endpoint) }
        try await runner.start().get()
        try await withTaskCancellationHandler {
            try await listener.closeFuture.get()
        } onCancel: {
            listener.close(promise: nil)
        }
        try await runner.end().get()
    }
}
