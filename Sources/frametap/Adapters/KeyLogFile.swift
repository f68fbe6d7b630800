import Dispatch
import Platform
import Synchronization
import Trace

/// A key log that the secrets of TLS connections are appended to, as `SSLKEYLOGFILE` makes programs do. Readable by its owner only.
///
/// A write error is reported once, and the next HUP tries again. HUP opens the file anew: it may have been moved away.
final class KeyLogFile: Sendable {
    private struct State {
        var descriptor: Int32
        var isBroken = false
        /// How many lines could not be written.
        var discarded = 0
        var hangUps: Int
    }

    private let path: String
    private let state: Mutex<State>
    private let hangUpCount: @Sendable () -> Int
    /// Event loops must not wait for a disk.
    private let queue = DispatchQueue(label: "key log")

    /// Opens a file, which may have secrets already.
    ///
    /// - Parameter hangUpCount: how many HUPs were received so far.
    init(appendingTo path: String, hangUpCount: @escaping @Sendable () -> Int = { HangUp.count }) throws {
        HangUp.listen()
        (self.path, self.hangUpCount) = (path, hangUpCount)
        state = Mutex(State(descriptor: try Self.open(path), hangUps: hangUpCount()))
    }

    deinit { close(state.withLock { $0.descriptor }) }

    private static func open(_ path: String, _ more: Int32 = 0) throws(CommandError) -> Int32 {
        let descriptor = Platform.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | more, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        if let status = FileStatus(ofDescriptor: descriptor), status.kind == .regular, status.permissions & 0o077 != 0 {
            warn("\(path) is readable by other users, who can then decrypt the recorded traffic")
        }
        return descriptor
    }

    /// Appends a line.
    func append(_ line: [UInt8]) {
        queue.async { [self] in
            state.withLock { state in
                reopen(&state)
                if state.isBroken {
                    state.discarded += 1
                } else if let cause = Self.write(line, to: state.descriptor) {
                    (state.isBroken, state.discarded) = (true, state.discarded + 1)
                    warn("cannot write \(path): \(cause); nothing more is written there, relaying goes on")
                }
            }
        }
    }

    /// Opens the file anew if there was a HUP. If that fails, the one before stays. A pipe that
    /// nobody reads is not waited for.
    private func reopen(_ state: inout State) {
        let count = hangUpCount()
        guard count != state.hangUps else { return }
        state.hangUps = count
        do throws(CommandError) {
            let descriptor = try Self.open(path, O_NONBLOCK)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) & ~O_NONBLOCK)
            close(state.descriptor)
            state.descriptor = descriptor
        } catch {
            return warn("\(error)")
        }
        guard state.isBroken else { return }
        state.isBroken = false
        let lines = Quantities.counted(state.discarded, "line")
        warn("writing goes on in \(path); \(lines) could not be written so far")
    }

    /// Writes a line at once, so that readers see whole ones.
    ///
    /// - Returns: why it is not written; what was written of it is removed then. Nil if it is written.
    private static func write(_ line: [UInt8], to descriptor: Int32) -> String? {
        var written = 0
        while written < line.count {
            let count = line.withUnsafeBytes { bytes -> Int in
                guard let base = bytes.baseAddress else { return 0 }
                return Platform.write(descriptor, base + written, bytes.count - written)
            }
            if count > 0 {
                written += count
            } else if count == 0 || errno != EINTR {
                // Only the write after one that was cut short says why.
                let cause = count == 0 ? "nothing was written" : systemError()
                cut(descriptor, by: written)
                return cause
            }
        }
        return nil
    }

    /// Removes the last bytes that were written, unless another program has appended to the file.
    private static func cut(_ descriptor: Int32, by count: Int) {
        let end = Int(lseek(descriptor, 0, SEEK_CUR))
        guard count > 0, let status = FileStatus(ofDescriptor: descriptor), status.kind == .regular, status.size == end
        else { return }
        ftruncate(descriptor, off_t(end - count))
    }

    /// Waits until everything is written, and reports what is missing.
    func finish() {
        queue.sync {
            let discarded = state.withLock { $0.discarded }
            guard discarded > 0 else { return }
            warn("\(path) is not complete: \(Quantities.counted(discarded, "line")) could not be written")
        }
    }
}
