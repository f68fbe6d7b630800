#if canImport(Glibc)
// `environ` is a variable, which no thread of this program changes.
@preconcurrency import Glibc
#elseif canImport(Musl)
@preconcurrency import Musl
#elseif canImport(Darwin)
@preconcurrency import Darwin
#endif
import Synchronization

/// A program that this one started (POSIX `posix_spawn`), in a process group of its own, with the usual reactions to signals. It inherits
/// no open files: its standard input and output are `/dev/null`.
package final class ChildProcess: Sendable {
    /// Why a program could not be started.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String
    }

    private let identifier: pid_t
    private let isRunning = Mutex(true)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - arguments: the program, which is looked for on the PATH unless it has a slash, and its arguments.
    ///   - errors: a descriptor of what it writes its errors to; nil: `/dev/null`.
    package init(_ arguments: [String], errors: Int32? = nil) throws(Failure) {
        let pointers = arguments.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        guard let program = pointers[0] else { throw Failure(description: "cannot start a program without a name") }
        var child: pid_t = 0
        let status = ChildProcess.withSettings(errors: errors) { files, attributes in
            posix_spawnp(&child, program, files, attributes, pointers, environ)
        }
        guard status == 0 else {
            throw Failure(description: "cannot start \(arguments.first ?? ""): \(String(cString: strerror(status)))")
        }
        identifier = child
    }

    /// Waits until it ends, on this thread. To be called once.
    ///
    /// - Returns: its exit status; negative: the number of the signal that ended it.
    package func wait() -> Int32 {
        // It keeps its number, so that no other program is killed in its place, until the lock is held.
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        return isRunning.withLock { isRunning in
            isRunning = false
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
            let signal = status & 0x7f
            return signal == 0 ? (status >> 8) & 0xff : -signal
        }
    }

    /// Kills it, and what it has started, if it still runs.
    package func kill() {
        isRunning.withLock { isRunning in
            guard isRunning else { return }
            _ = killpg(identifier, SIGKILL)
        }
    }

    #if canImport(Darwin)
    private typealias Files = posix_spawn_file_actions_t?
    private typealias Attributes = posix_spawnattr_t?
    #else
    private typealias Files = posix_spawn_file_actions_t
    private typealias Attributes = posix_spawnattr_t
    #endif

    /// Calls `start` with the child's descriptors, process group and signals.
    private static func withSettings(
        errors: Int32?, _ start: (UnsafePointer<Files>, UnsafePointer<Attributes>) -> Int32
    ) -> Int32 {
        #if canImport(Darwin)
        var (files, attributes): (Files, Attributes) = (nil, nil)
        #else
        var (files, attributes) = (Files(), Attributes())
        #endif
        posix_spawn_file_actions_init(&files)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&files)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        if let errors {
            posix_spawn_file_actions_adddup2(&files, errors, STDERR_FILENO)
        } else {
            posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        }

        // What this program ignores or blocks, the child may want.
        var (usual, blocked) = (sigset_t(), sigset_t())
        sigemptyset(&usual)
        sigemptyset(&blocked)
        for signal in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE, SIGTERM, SIGCHLD] { sigaddset(&usual, signal) }
        posix_spawnattr_setsigdefault(&attributes, &usual)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setpgroup(&attributes, 0)
        var flags = Int32(POSIX_SPAWN_SETPGROUP) | Int32(POSIX_SPAWN_SETSIGDEF) | Int32(POSIX_SPAWN_SETSIGMASK)
        #if canImport(Darwin)
        flags |= Int32(POSIX_SPAWN_CLOEXEC_DEFAULT)
        #else
        for descriptor in (Folder.names(in: "/proc/self/fd") ?? []).compactMap(Int32.init) where descriptor > 2 {
            posix_spawn_file_actions_addclose(&files, descriptor)
        }
        #endif
        posix_spawnattr_setflags(&attributes, Int16(flags))
        return start(&files, &attributes)
    }
}
