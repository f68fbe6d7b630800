import NIOCore
import Platform
import Streams

/// The original destination of a redirected client (Linux, netfilter: `linux/netfilter_ipv4.h`,
/// `linux/netfilter_ipv6/ip6_tables.h`).
enum OriginalDestination {
    /// Whether this system can report it.
    static var isKnown: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST have the same number.
    private static let option = NIOBSDSocket.Option(rawValue: 80)

    /// Queries the system. Fails if the client was not redirected.
    static func of(_ channel: any Channel) -> EventLoopFuture<SocketAddress> {
        guard isKnown, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(
                EntryFault("this system does not say where it was redirected from"))
        }
        // Clients that arrive by IPv4 on an IPv6 socket are redirected by IPv4's rules.
        if Endpoint(channel.localAddress).unmapped.address.isIPv4 {
            return socket.unsafeGetSocketOption(level: .init(rawValue: CInt(IPPROTO_IP)), name: option)
                .map { (address: sockaddr_in) in SocketAddress(address) }
        }
        return socket.unsafeGetSocketOption(level: .init(rawValue: CInt(IPPROTO_IPV6)), name: option)
            .map { (address: sockaddr_in6) in SocketAddress(address) }
    }
}
