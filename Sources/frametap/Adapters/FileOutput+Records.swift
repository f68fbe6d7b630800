import Platform

/// What a record needs of its file in addition to writing.
extension FileOutput {
    /// Opens a file for appending.
    convenience init(appendingTo path: String) throws {
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandError("cannot open \(path): \(systemError())") }
        self.init(descriptor: descriptor, name: path, closes: true)
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
