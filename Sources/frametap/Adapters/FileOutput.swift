import ArgumentParser
import Platform
import Trace

/// A file, pipe or terminal that a trace is written to.
///
/// When it fails it reports that once, through `whenBroken`, and accepts no more: a full disk or a closed pipe must not stop the
/// source.
final class FileOutput: ByteOutput {
    /// Why writing is no longer possible.
    struct Failure: Error {
        var name: String
        var code: Int32

        var isBrokenPipe: Bool { code == EPIPE }
        /// Ends a command whose only work was to write: a reader that closed the pipe has seen enough, anything else is an error.
        func endProcess() -> Never {
            if !isBrokenPipe { warn(message) }
            exit(isBrokenPipe ? 0 : 2)
        }

        /// The same for a command that may have more to do than to write. Without a reader it goes on then, and what it
        /// writes is discarded.
        ///
        /// - Parameter hasMore: whether its status is the result of a check, or it writes other files.
        func endProcess(unless hasMore: Bool) {
            if !hasMore || !isBrokenPipe { endProcess() }
        }

        var message: String {
            let cause = code == ETIMEDOUT ? "its reader has stopped reading" : String(cString: strerror(code))
            return "cannot write \(name): \(cause)"
        }
    }

    /// Called once, when writing failed.
    var whenBroken: (Failure) -> Void = { _ in }

    /// Whether a pipe or terminal that no one reads is abandoned when the process must end (`EndDeadline`).
    var endsOnSignal = false

    let descriptor: Int32
    private let name: String
    private let closes: Bool
    private var isBroken = false
    /// What waits to be written while the file keeps what it had before; nil if it does not.
    private var held: [UInt8]?

    /// - Parameter keepsContent: whether what the file has stays until `begin` is called.
    init(descriptor: Int32, name: String, closes: Bool, keepsContent: Bool = false) {
        self.descriptor = descriptor
        self.name = name
        self.closes = closes
        held = keepsContent ? [] : nil
    }

    deinit {
        if closes { close(descriptor) }
    }

    static func standardOutput() -> FileOutput {
        FileOutput(descriptor: STDOUT_FILENO, name: "standard output", closes: false)
    }

    private(set) lazy var isTerminal = isatty(descriptor) == 1

    /// The width of the terminal; nil if it is not a terminal, or does not report its width.
    var terminalColumns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Whether the file still has what it had before, and what is written waits for `begin`.
    var keepsContent: Bool { held != nil }

    /// Empties the file, if it still has what it had before, and writes what waits.
    ///
    /// - Returns: what waited.
    @discardableResult
    func begin() -> [UInt8] {
        guard let waiting = held else { return [] }
        held = nil
        if ftruncate(descriptor, 0) == 0 { write(waiting) } else { fail(errno) }
        return waiting
    }

    func write(_ bytes: [UInt8]) {
        guard !isBroken else { return }
        if held != nil {
            held?.append(contentsOf: bytes)
            return
        }
        if !closes, isTerminal { StatusLine.aside { writeAll(bytes) } } else { writeAll(bytes) }
    }

    private func writeAll(_ bytes: [UInt8]) {
        var written = 0
        while written < bytes.count {
            var most = bytes.count - written
            if endsOnSignal, mayBlock {
                guard waitForReader() else { return fail(ETIMEDOUT) }
                // A writable descriptor accepts this much without blocking (PIPE_BUF on Linux).
                most = min(most, 4_096)
            }
            let count = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                return Platform.write(descriptor, base + written, most)
            }
            if count >= 0 {
                written += count
                if endsOnSignal { EndDeadline.advance() }
            } else if errno != EINTR, errno != EAGAIN {
                return fail(errno)
            }
        }
    }

    /// Accepts bytes again after a failure, and writes them at the end of the file. It stays open, and so it stays locked.
    func resume() {
        isBroken = false
        lseek(descriptor, 0, SEEK_END)
    }

    private func fail(_ code: Int32) {
        isBroken = true
        whenBroken(Failure(name: name, code: code))
    }

    /// Whether writing may have to wait for a reader: never for files.
    private lazy var mayBlock: Bool = {
        return FileStatus(ofDescriptor: descriptor).map { $0.kind != .regular } ?? false
    }()

    /// Waits until the output is writable. Returns false if the process must end first.
    private func waitForReader() -> Bool {
        let start = EndDeadline.now
        var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let ready = CLibrary.poll(&poll, milliseconds: 100)
            // Errors are reported by the write itself; an interrupting signal is not an error.
            if ready > 0 || ready < 0 && errno != EINTR { return true }
            if EndDeadline.abandonsReader(silentSince: start) { return false }
        }
    }
}

/// An error that prevented a command from doing its work: exit status 2.
struct CommandError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
