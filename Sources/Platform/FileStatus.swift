/// What the system says about a file (POSIX `stat`).
///
/// Structures of the C library are read here only: in a file that also sees SwiftNIO, the compiler may attribute their members
/// to NIO's private modules.
package struct FileStatus: Sendable {
    /// What kind of file it is.
    package enum Kind: Sendable {
        case regular, folder, socket, other
    }

    /// What kind of file it is.
    package let kind: Kind
    /// The device that it is on; with `number`, what identifies a file.
    package let device: UInt64
    /// Its number on the device.
    package let number: UInt64
    /// Its length in bytes.
    package let size: Int
    /// When its content was last changed, in nanoseconds since 1970.
    package let modified: Int64
    /// Who may do what with it: the nine permission bits.
    package let permissions: Int

    /// The file that a path names; nil if there is none, or it cannot be queried: `errno` says why.
    ///
    /// - Parameter followsLinks: whether a symbolic link stands for the file that it points to.
    package init?(of path: String, followsLinks: Bool = true) {
        var status = stat()
        guard (followsLinks ? stat(path, &status) : lstat(path, &status)) == 0 else { return nil }
        self.init(status)
    }

    /// An open file; nil if the descriptor is not open.
    package init?(ofDescriptor descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    private init(_ status: stat) {
        kind =
            switch status.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .folder
            case S_IFSOCK: .socket
            default: .other
            }
        (device, number) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
        size = Int(status.st_size)
        #if canImport(Darwin)
        let time = status.st_mtimespec
        #else
        let time = status.st_mtim
        #endif
        modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
        permissions = Int(status.st_mode & 0o777)
    }

    /// Whether it is the same file as another.
    package func isSameFile(as other: FileStatus) -> Bool { device == other.device && number == other.number }
}
