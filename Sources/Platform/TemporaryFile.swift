/// A file without a name: it is gone when the process is.
package final class TemporaryFile: Sendable {
    /// Why there is none.
    package struct Failure: Error, CustomStringConvertible {
        package var description: String

        package init(description: String) { self.description = description }
    }

    package let descriptor: Int32

    /// Creates it, in TMPDIR or /tmp, for this user alone.
    package init() throws(Failure) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var path = Array("\(folder)/frametap-XXXXXX".utf8CString)
        descriptor = mkstemp(&path)
        guard descriptor >= 0 else {
            throw Failure(description: "cannot create a file in \(folder): \(String(cString: strerror(errno)))")
        }
        unlink(path)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    }

    /// Opens a file that there is.
    package init(opening path: String) throws(Failure) {
        descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(description: "cannot open \(path): \(String(cString: strerror(errno)))")
        }
    }

    deinit { close(descriptor) }

    /// Writes bytes at a position.
    ///
    /// - Returns: whether all were written.
    package func write(_ bytes: [UInt8], at position: Int64) -> Bool {
        bytes.withUnsafeBytes { raw in
            var done = 0
            while done < raw.count {
                let count = pwrite(
                    descriptor, raw.baseAddress?.advanced(by: done), raw.count - done, off_t(position) + done)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                done += count
            }
            return true
        }
    }

    /// At most the last `count` bytes.
    package func end(_ count: Int) -> [UInt8] {
        let size = FileStatus(ofDescriptor: descriptor)?.size ?? 0
        return read(min(count, size), at: Int64(max(0, size - count)))
    }

    /// The bytes at a position; fewer at the end of the file.
    package func read(_ count: Int, at position: Int64) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: max(0, count)) { buffer, initialized in
            while initialized < count {
                let start = buffer.baseAddress?.advanced(by: initialized)
                let read = pread(descriptor, start, count - initialized, off_t(position) + initialized)
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return }
                initialized += read
            }
        }
    }
}
