import ArgumentParser
import Trace

/// A file, pipe or terminal that a trace is written to.
///
/// When it fails it says so once, through `whenBroken`, and takes no more: a full disk or a closed pipe must not stop
/// what feeds it.
final class FileOutput: ByteOutput {
    /// Why nothing more can be written.
    struct Failure: Error {
        var name: String
        var code: Int32

        var isBrokenPipe: Bool { code == EPIPE }
        /// Ends a command whose only work was to write: whoever closed the pipe has seen enough, anything else is trouble.
        func endProcess() -> Never {
            if !isBrokenPipe { complain(message) }
            exit(isBrokenPipe ? 0 : 2)
        }

        var message: String { "cannot write \(name): \(String(cString: strerror(code)))" }
    }

    /// Called once, when writing failed.
    var whenBroken: (Failure) -> Void = { _ in }

    private let descriptor: Int32
    private let name: String
    private let closes: Bool
    private var isBroken = false

    private init(descriptor: Int32, name: String, closes: Bool) {
        self.descriptor = descriptor
        self.name = name
        self.closes = closes
    }

    deinit {
        if closes { close(descriptor) }
    }

    static func standardOutput() -> FileOutput {
        FileOutput(descriptor: STDOUT_FILENO, name: "standard output", closes: false)
    }

    /// Creates a file, readable by its owner only: traces hold what people said. `-` is standard output.
    convenience init(creating path: String) throws {
        if path == "-" {
            self.init(descriptor: STDOUT_FILENO, name: "standard output", closes: false)
            return
        }
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Trouble("cannot create \(path): \(systemError())") }
        self.init(descriptor: descriptor, name: path, closes: true)
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// How wide the terminal is; nil where it is none, or does not say.
    var terminalColumns: Int? {
        var size = winsize()
        guard isTerminal, ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    func write(_ bytes: [UInt8]) {
        guard !isBroken else { return }
        if !closes { StatusLine.clear() }
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes { buffer -> Int in
                guard let base = buffer.baseAddress else { return 0 }
                #if canImport(Darwin)
                return Darwin.write(descriptor, base + written, buffer.count - written)
                #elseif canImport(Musl)
                return Musl.write(descriptor, base + written, buffer.count - written)
                #else
                return Glibc.write(descriptor, base + written, buffer.count - written)
                #endif
            }
            if count >= 0 {
                written += count
            } else if errno != EINTR, errno != EAGAIN {
                isBroken = true
                whenBroken(Failure(name: name, code: errno))
                return
            }
        }
    }
}

/// What kept a command from its work: exit status 2.
struct Trouble: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) {
        self.description = description
    }
}
