import NIOCore
import Platform

/// Data that the system has accepted from the proxy and the other end has not acknowledged yet.
enum Unacknowledged {
    #if os(Linux)
    /// The beginning of `struct tcp_info` (`linux/tcp.h`), which has grown over the years: glibc's is shorter.
    private struct Info: Sendable {
        private typealias Words = (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
        private var words: (Words, Words) = (
            (0, 0, 0, 0, 0, 0, 0, 0, 0, 0), (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        )

        private func field(at offset: Int) -> UInt32 {
            withUnsafeBytes(of: words) { $0.load(fromByteOffset: offset, as: UInt32.self) }
        }

        /// `tcpi_unacked` in segments, or `tcpi_notsent_bytes`.
        var isAnything: Bool { field(at: 24) > 0 || field(at: 144) > 0 }
    }
    #endif

    /// Whether a socket has bytes that its other end has not acknowledged; false if the system does not report it.
    static func isAnything(on channel: any Channel) -> EventLoopFuture<Bool> {
        #if os(Linux)
        guard let socket = channel as? any SocketOptionProvider, channel.localAddress?.protocol != .unix else {
            return channel.eventLoop.makeSucceededFuture(false)
        }
        return socket.unsafeGetSocketOption(level: .tcp, name: .init(rawValue: TCP_INFO)).map { (info: Info) in
            info.isAnything
        }
        #else
        return channel.eventLoop.makeSucceededFuture(false)
        #endif
    }
}
