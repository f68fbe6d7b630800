import Platform

/// The file of a Unix socket that the proxy listens on: accessible to its owner only, and removed when the proxy ends.
struct UnixSocketFile: Sendable {
    let path: String
    private var device: dev_t = 0
    private var number: ino_t = 0

    /// Why it is not possible to listen on a path.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Makes way at a path: removes a socket that no one listens on any more. Anything else stays.
    init(clearing path: String) throws {
        self.path = path
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw Fault(description: "there is a file that is no socket")
        }
        guard Self.isStale(path) else { throw Fault(description: "Address already in use") }
        guard unlink(path) == 0 else { throw Fault(description: String(cString: strerror(errno))) }
    }

    /// Remembers the file that binding created.
    mutating func bound() {
        var status = stat()
        chmod(path, 0o600)
        guard lstat(path, &status) == 0 else { return }
        (device, number) = (status.st_dev, status.st_ino)
    }

    /// Removes the file, if it is still the one that binding created.
    func remove() {
        var status = stat()
        guard lstat(path, &status) == 0, status.st_dev == device, status.st_ino == number else { return }
        unlink(path)
    }

    /// Whether no one listens: connecting is then refused.
    private static func isStale(_ path: String) -> Bool {
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
