import NIOCore
import NIOPosix
import Platform
import Streams

/// Resolves the addresses of a name, anew for each connection.
struct NameResolution: Sendable {
    /// Resolving blocks a thread: a few at once are enough, the others wait.
    let threads: NIOThreadPool

    /// The addresses of a name, in the system's order; an address resolves to itself.
    func addresses(of place: HostPort, on loop: any EventLoop) -> EventLoopFuture<[SocketAddress]> {
        if let address = try? SocketAddress(ipAddress: place.host, port: place.port) {
            return loop.makeSucceededFuture([address])
        }
        return threads.runIfActive(eventLoop: loop) { try Self.lookUp(place) }
    }

    private static func lookUp(_ place: HostPort) throws -> [SocketAddress] {
        var hints = addrinfo()
        #if os(Linux)
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        #else
        hints.ai_socktype = SOCK_STREAM
        #endif
        var first: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(place.host, nil, &hints, &first)
        defer { if let first { freeaddrinfo(first) } }
        guard status == 0 else {
            throw EntryFault("no address for \(place.host): \(String(cString: gai_strerror(status)))")
        }
        var found: [SocketAddress] = []
        var next = first
        // As many as any client would try.
        while let entry = next?.pointee, found.count < 64 {
            if var address = address(entry) {
                address.port = place.port
                found.append(address)
            }
            next = entry.ai_next
        }
        guard !found.isEmpty else { throw EntryFault("no address for \(place.host)") }
        return found
    }

    private static func address(_ entry: addrinfo) -> SocketAddress? {
        guard let address = entry.ai_addr else { return nil }
        switch entry.ai_family {
        case AF_INET: return address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) { SocketAddress($0.pointee) }
        case AF_INET6:
            return address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) { SocketAddress($0.pointee) }
        default: return nil
        }
    }
}

/// Supplies known addresses to the bootstrap, which connects to one after the other (RFC 8305).
struct KnownAddresses: Resolver, Sendable {
    let addresses: [SocketAddress]
    let loop: any EventLoop

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet })
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeSucceededFuture(addresses.filter { $0.protocol == .inet6 })
    }

    func cancelQueries() {}
}
