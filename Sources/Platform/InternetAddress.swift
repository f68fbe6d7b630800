/// The contents of the C library's socket addresses, in host order.
package enum InternetAddress {
    /// The address and port of an IPv4 socket address.
    package static func parts(of socket: sockaddr_in) -> (bits: UInt32, port: UInt16) {
        (UInt32(bigEndian: socket.sin_addr.s_addr), UInt16(bigEndian: socket.sin_port))
    }

    /// The halves of the address, and the port, of an IPv6 socket address.
    package static func parts(of socket: sockaddr_in6) -> (high: UInt64, low: UInt64, port: UInt16) {
        let (high, low) = halves(socket.sin6_addr)
        return (high, low, UInt16(bigEndian: socket.sin6_port))
    }

    /// An IPv4 address from dotted decimal; nil if the text is not one.
    package static func bits(ofIPv4 text: String) -> UInt32? {
        var address = in_addr()
        return inet_pton(AF_INET, text, &address) == 1 ? UInt32(bigEndian: address.s_addr) : nil
    }

    /// The halves of an IPv6 address, without a zone; nil if the text is not one.
    package static func halves(ofIPv6 text: String) -> (high: UInt64, low: UInt64)? {
        var address = in6_addr()
        return inet_pton(AF_INET6, text, &address) == 1 ? halves(address) : nil
    }

    private static func halves(_ address: in6_addr) -> (high: UInt64, low: UInt64) {
        withUnsafeBytes(of: address) { bytes in
            (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }
}

/// Unix sockets, as far as they need the C library's structures.
package enum UnixSocket {
    /// Whether no program listens on a path any more: connecting is refused.
    package static func isStale(_ path: String) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        let fits = withUnsafeMutableBytes(of: &address.sun_path) { room in
            guard bytes.count < room.count else { return false }
            room.copyBytes(from: bytes)
            return true
        }
        #if os(Linux)
        let socket = socket(
            AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue), 0)
        #else
        let socket = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        guard fits, socket >= 0 else { return false }
        defer { close(socket) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        return result != 0 && errno == ECONNREFUSED
    }
}
