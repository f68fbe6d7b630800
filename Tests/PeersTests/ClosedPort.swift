import Platform

/// A TCP port of 127.0.0.1 at which nobody listens, and that nobody else gets: connecting to it is refused.
final class ClosedPort {
    let number: Int
    private let descriptor: Int32

    struct Failure: Error {
        var code: Int32
    }

    init() throws {
        #if os(Linux)
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        #else
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        guard descriptor >= 0 else { throw Failure(code: errno) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Bound, and no more: it does not listen.
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound else {
            let code = errno
            close(descriptor)
            throw Failure(code: code)
        }
        (self.descriptor, number) = (descriptor, Int(InternetAddress.parts(of: address).port))
    }

    deinit { close(descriptor) }
}
