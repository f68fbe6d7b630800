import NIOCore
import Platform
import Streams

/// Where a redirected client meant to connect to (Linux, netfilter: `linux/netfilter_ipv4.h`, `linux/netfilter_ipv6/ip6_tables.h`).
enum OriginalDestination {
    /// Whether this system can tell.
    static var isKnown: Bool {
        #if os(Linux)
        true
        #else
        false
        #endif
    }

    /// SO_ORIGINAL_DST and IP6T_SO_ORIGINAL_DST have the same number.
    private static let option = NIOBSDSocket.Option(rawValue: 80)

    /// Asks the system. Fails where the client was not redirected.
    static func of(_ channel: any Channel) -> EventLoopFuture<SocketAddress> {
        guard isKnown, let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(
                EntryFault("this system does not say where it was redirected from"))
        }
        // Those that come by IPv4 to a socket for IPv6 are IPv4's to redirect.
        if Endpoint(channel.localAddress).unmapped.address.isIPv4 {
            return socket.unsafeGetSocketOption(level: .init(rawValue: CInt(IPPROTO_IP)), name: option)
                .map { (address: sockaddr_in) in SocketAddress(address) }
        }
        return socket.unsafeGetSocketOption(level: .init(rawValue: CInt(IPPROTO_IPV6)), name: option)
            .map { (address: sockaddr_in6) in SocketAddress(address) }
    }
}
