import Platform

/// Files that only one frametap writes at a time, and what a record needs of its file in addition to writing.
extension FileOutput {
    /// Creates a file, readable by its owner only, since traces contain private conversations, or empties it; `-` is standard
    /// output.
    ///
    /// A file that another frametap writes is left as it is, and is an error.
    ///
    /// - Parameters:
    ///   - madePrivate: whether a file that was there becomes its owner's alone, too.
    ///   - keepsContent: whether it is emptied only by `begin`.
    convenience init(creating path: String, madePrivate: Bool = false, keepsContent: Bool = false) throws {
        if path == "-" {
            self.init(descriptor: STDOUT_FILENO, name: "standard output", closes: false)
            return
        }
        // Not O_TRUNC: the file is emptied once it is known that no one else writes it.
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        let hasContent = try FileOutput.claim(
            descriptor, path, madePrivate: madePrivate, keepsContent: keepsContent)
        self.init(descriptor: descriptor, name: path, closes: true, keepsContent: hasContent)
    }

    /// Creates a file of a series; nil if there is already something of that name.
    convenience init?(creatingRecord path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        if descriptor < 0, errno == EEXIST { return nil }
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        _ = try FileOutput.claim(descriptor, path, madePrivate: true, keepsContent: false)
        self.init(descriptor: descriptor, name: path, closes: true)
    }

    /// Locks a file until it is closed, empties it, and may keep other users from reading it. If that fails, the descriptor is
    /// closed.
    ///
    /// - Parameter keepsContent: whether a file that has something is not emptied.
    /// - Returns: whether it has something.
    private static func claim(
        _ descriptor: Int32, _ path: String, madePrivate: Bool, keepsContent: Bool
    ) throws -> Bool {
        // Pipes and devices may have several writers.
        guard let status = FileStatus(ofDescriptor: descriptor), status.kind == .regular else { return false }
        // Where the file system has no locks, the file is written without one.
        if flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK {
            close(descriptor)
            throw CommandError("\(path) is being written by another frametap; choose another file")
        }
        // A file that was there keeps its permissions when it is opened.
        if madePrivate, status.permissions & 0o077 != 0, fchmod(descriptor, 0o600) != 0 {
            warn("cannot make \(path) private (\(systemError())): other users may be able to read the record")
        }
        if keepsContent, status.size > 0 { return true }
        guard ftruncate(descriptor, 0) == 0 else {
            let reason = systemError()
            close(descriptor)
            throw CommandError("cannot create \(path): \(reason)")
        }
        return false
    }

    /// Whether a running frametap records into a file.
    static func isBeingRecorded(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Whether it is a file on a disk, and not a pipe or terminal.
    var isRegular: Bool {
        FileStatus(ofDescriptor: descriptor)?.kind == .regular
    }

    /// How many bytes it has.
    var length: Int {
        FileStatus(ofDescriptor: descriptor)?.size ?? 0
    }

    /// Whether the path still names this file: it has not been moved away.
    func isFile(at path: String) -> Bool {
        guard let own = FileStatus(ofDescriptor: descriptor), let other = FileStatus(of: path) else { return false }
        return own.isSameFile(as: other)
    }

    /// Removes a partial write, so that the rest is readable.
    func cut(to length: Int) {
        guard isRegular else { return }
        ftruncate(descriptor, off_t(length))
        // What follows is written there, and not after a run of zeros.
        lseek(descriptor, off_t(length), SEEK_SET)
    }
}
