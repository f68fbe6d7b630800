import Platform
import Trace

/// A file that is open only while it is written to: there may be thousands.
final class AppendedFile: ByteOutput {
    private let path: String
    private let whenFailed: (String) -> Void
    private var isBroken = false

    /// Creates the file, which must not exist.
    init(creating path: String, whenFailed: @escaping (String) -> Void) throws(CommandError) {
        (self.path, self.whenFailed) = (path, whenFailed)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot write \(path): \(systemError())") }
        close(descriptor)
    }

    func write(_ bytes: [UInt8]) {
        guard !isBroken else { return }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return fail() }
        let isWritten = bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = Platform.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                written += count
            }
            return true
        }
        if !isWritten { fail() }
        // Some file systems say only here that there is no room.
        if close(descriptor) != 0 { fail() }
    }

    private func fail() {
        guard !isBroken else { return }
        isBroken = true
        whenFailed("cannot write \(path): \(systemError())")
    }
}
