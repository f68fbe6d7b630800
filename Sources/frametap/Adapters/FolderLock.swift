import Platform

/// Keeps other processes from writing to a folder at the same time.
struct FolderLock {
    private let descriptor: Int32

    /// Waits for a folder, and creates it if it does not exist, with those above it, for their owner only.
    init(creating path: String) throws {
        try Self.create(path)
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandError("cannot open the folder \(path): \(systemError())") }
        while flock(descriptor, LOCK_EX) != 0 {
            guard errno == EINTR else {
                let reason = systemError()
                close(descriptor)
                throw CommandError("cannot lock the folder \(path): \(reason)")
            }
        }
    }

    /// Ends the lock, as the end of the process does.
    func release() { close(descriptor) }

    private static func create(_ path: String) throws {
        if mkdir(path, 0o700) == 0 || errno == EEXIST { return }
        guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else {
            throw CommandError("cannot create the folder \(path): \(systemError())")
        }
        try create(String(path[..<slash]))
        guard mkdir(path, 0o700) == 0 || errno == EEXIST else {
            throw CommandError("cannot create the folder \(path): \(systemError())")
        }
    }
}
