import Platform

/// Small files whose permissions matter.
enum PrivateFile {
    /// The maximum size of a certificate or key with everything that people put into such files.
    private static let longest = 1 << 20

    /// Whether there is something at the path, if only a symbolic link to nothing.
    static func exists(_ path: String) -> Bool {
        FileStatus(of: path, followsLinks: false) != nil
    }

    /// The text of a file that anyone may read.
    static func text(of path: String) throws -> String {
        String(decoding: try FileInput.contents(of: path, limit: longest), as: UTF8.self)
    }

    /// The text of a file that only its owner may read. Whoever has the key of a CA can pretend to be any server.
    static func secret(of path: String) throws -> String {
        // The permissions of what is read, and not of what takes its place in between.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandError("cannot open \(path): \(systemError())") }
        defer { close(descriptor) }
        guard let status = FileStatus(ofDescriptor: descriptor) else {
            throw CommandError("cannot open \(path): \(systemError())")
        }
        guard status.kind == .regular else { throw CommandError("\(path) is not a file; expected a key") }
        guard status.permissions & 0o077 == 0 else {
            let mode = String(status.permissions, radix: 8)
            throw CommandError(
                "\(path) is open to other users (mode \(mode)); expected mode 600: chmod 600 \(ShellWord.quoted(path))")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandError("cannot read \(path): \(systemError())") }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            bytes += chunk[..<count]
            if bytes.count > longest { throw CommandError("\(path) has more than \(longest) bytes; expected a key") }
        }
    }

    /// Writes a file as a whole or not at all: under another name at first, which no one else can have made, and with its final
    /// permissions from the start.
    static func write(_ text: String, to path: String, mode: mode_t) throws {
        let temporary = "\(path).\(getpid()).new"
        // Left over by a process that was killed; its number is ours now.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
        guard descriptor >= 0 else { throw CommandError("cannot create \(temporary): \(systemError())") }
        var failure: String?
        let bytes = Array(text.utf8)
        var written = 0
        while written < bytes.count, failure == nil {
            let rest = Array(bytes[written...])
            let count = Platform.write(descriptor, rest, rest.count)
            if count >= 0 { written += count } else if errno != EINTR { failure = systemError() }
        }
        // The umask can only take permissions away.
        if failure == nil, fchmod(descriptor, mode) != 0 || fsync(descriptor) != 0 { failure = systemError() }
        close(descriptor)
        if failure == nil, rename(temporary, path) != 0 { failure = systemError() }
        guard let failure else { return }
        unlink(temporary)
        throw CommandError("cannot write \(path): \(failure)")
    }
}
