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
        var status = stat()
        return fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    }

    /// How many bytes it has.
    var length: Int {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Int(status.st_size) : 0
    }

    /// Whether the path still names this file: it has not been moved away.
    func isFile(at path: String) -> Bool {
        var (own, other) = (stat(), stat())
        return fstat(descriptor, &own) == 0 && stat(path, &other) == 0
            && (own.st_dev, own.st_ino) == (other.st_dev, other.st_ino)
    }

    /// Removes a partial write, so that the rest is readable.
    func cut(to length: Int) {
        if isRegular { ftruncate(descriptor, off_t(length)) }
    }
}
