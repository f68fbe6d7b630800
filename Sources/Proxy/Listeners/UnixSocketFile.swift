import Platform

/// The file of a Unix socket that the proxy listens on: accessible to its owner only, and removed when the proxy ends.
struct UnixSocketFile: Sendable {
    let path: String
    private var file: FileStatus?

    /// Why it is not possible to listen on a path.
    struct Fault: Error, CustomStringConvertible {
        var description: String
    }

    /// Makes way at a path: removes a socket that no one listens on any more. Anything else stays.
    init(clearing path: String) throws {
        self.path = path
        guard let status = FileStatus(of: path, followsLinks: false) else { return }
        guard status.kind == .socket else {
            throw Fault(description: "there is a file that is no socket")
        }
        guard UnixSocket.isStale(path) else { throw Fault(description: "Address already in use") }
        guard unlink(path) == 0 else { throw Fault(description: String(cString: strerror(errno))) }
    }

    /// Remembers the file that binding created.
    mutating func bound() {
        chmod(path, 0o600)
        file = FileStatus(of: path, followsLinks: false)
    }

    /// Removes the file, if it is still the one that binding created.
    func remove() {
        guard let file, FileStatus(of: path, followsLinks: false)?.isSameFile(as: file) == true else { return }
        unlink(path)
    }
}
