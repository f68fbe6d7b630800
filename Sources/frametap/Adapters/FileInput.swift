import Packets
import Platform
import Synchronization

/// A capture file, or standard input.
struct FileInput: SkippableSource {
    private let descriptor: Int32
    let name: String
    /// What a regular file was when it was opened; nil for a pipe or terminal.
    let identity: FileStatus?

    /// Whether more data may arrive while it is being read: results should then be shown immediately.
    var isFollowed: Bool { identity == nil }

    /// Whether that is so of a path; `-` is standard input.
    static func isFollowed(_ path: String) -> Bool {
        let status = path == "-" ? FileStatus(ofDescriptor: STDIN_FILENO) : FileStatus(of: path)
        return status.map { $0.kind != .regular } ?? false
    }

    private let progress: ReadingProgress?

    /// Opens a file; `-` is standard input.
    ///
    /// - Parameter progress: reports when to stop waiting for a followed file.
    init(_ path: String, _ progress: ReadingProgress? = nil) throws(CommandError) {
        self.progress = progress
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw CommandError("cannot open \(path): \(systemError())") }
        guard let status = FileStatus(ofDescriptor: descriptor) else {
            throw CommandError("cannot open \(path): \(systemError())")
        }
        if status.kind == .folder {
            if path != "-" { close(descriptor) }
            throw CommandError("\(name) is a folder; expected a file")
        }
        identity = status.kind == .regular ? status : nil
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        guard waitForMore() else { return 0 }
        return try attempt {
            Platform.read(descriptor, buffer.baseAddress, buffer.count)
        }
    }

    /// Waits until data can be read; false if it is no longer wanted.
    private func waitForMore() -> Bool {
        guard isFollowed, let progress else { return true }
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        while !progress.isInterrupted {
            if poll(&waited, 1, 200) != 0 { return true }
        }
        return false
    }

    /// Reads from an offset of a regular file.
    func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CommandError) -> Int {
        try attempt { pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)) }
    }

    func skip(_ count: Int) throws(CommandError) {
        guard lseek(descriptor, off_t(count), SEEK_CUR) >= 0 else {
            throw CommandError("cannot read \(name): \(systemError())")
        }
    }

    /// Retries a call that a signal may interrupt.
    private func attempt(_ work: () -> Int) throws(CommandError) -> Int {
        while true {
            let count = work()
            if count >= 0 { return count }
            if errno != EINTR { throw CommandError("cannot read \(name): \(systemError())") }
        }
    }

    func closeFile() {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// The contents read from pipes, by name: they can be read only once, and options may be loaded again for another thread.
    private static let pipes = Mutex<[String: [UInt8]]>([:])

    /// The whole contents of a small file.
    static func contents(of path: String, limit: Int) throws -> [UInt8] {
        if let known = pipes.withLock({ $0[path] }) { return known }
        let input = try FileInput(path)
        defer { input.closeFile() }
        let bytes = try contents(of: input, path, limit: limit)
        if input.isFollowed { pipes.withLock { $0[path] = bytes } }
        return bytes
    }

    private static func contents(of input: FileInput, _ path: String, limit: Int) throws -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > limit {
                throw CommandError("\(path) has more than \(limit) bytes, the most for a file of this kind")
            }
        }
    }
}

extension FileInput {
    /// The text of a format file that another one names, relative to it; nil if there is none.
    static func format(named name: String, beside file: String) -> String? {
        guard name.hasSuffix(".yaml") || name.hasSuffix(".yml") else { return nil }
        let folder = file.lastIndex(of: "/").map { String(file[...$0]) } ?? ""
        let path = name.hasPrefix("/") ? name : folder + name
        return (try? contents(of: path, limit: 4 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }
}
