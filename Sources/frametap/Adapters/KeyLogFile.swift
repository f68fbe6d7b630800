import Dispatch
import Platform
import Synchronization

/// A key log that the secrets of TLS connections are appended to, as `SSLKEYLOGFILE` makes programs do. Readable by its owner only.
final class KeyLogFile: Sendable {
    private let path: String
    private let descriptor: Int32
    /// Event loops must not wait for a disk.
    private let queue = DispatchQueue(label: "key log")
    private let isBroken = Atomic(false)

    /// Opens a file, which may have secrets already.
    init(appendingTo path: String) throws {
        self.path = path
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        if let status = FileStatus(ofDescriptor: descriptor), status.kind == .regular, status.permissions & 0o077 != 0 {
            warn("\(path) is readable by other users, who can then decrypt the recorded traffic")
        }
    }

    deinit { close(descriptor) }

    /// Appends a line. The first failure is reported.
    func append(_ line: [UInt8]) {
        queue.async { [self] in
            guard !isBroken.load(ordering: .relaxed) else { return }
            // A line is written at once, so that readers see whole ones.
            var written = write(descriptor, line, line.count)
            while written < 0, errno == EINTR { written = write(descriptor, line, line.count) }
            if written != line.count {
                isBroken.store(true, ordering: .relaxed)
                warn("cannot write \(path): \(systemError()); nothing more is written there, relaying goes on")
            }
        }
    }

    /// Waits until everything is written.
    func finish() { queue.sync {} }
}
