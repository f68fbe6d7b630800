import Packets

/// A capture file, or standard input.
struct FileInput: ByteSource {
    private let descriptor: Int32
    let name: String
    /// Whether more may come while it is being read: what is known so far should be shown at once.
    let isFollowed: Bool

    /// Opens a file; `-` is standard input.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        descriptor = path == "-" ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Trouble("cannot open \(path): \(systemError())") }
        var status = stat()
        let isFile = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            throw Trouble("\(path) is a folder; expected a capture file")
        }
        isFollowed = !isFile
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(Trouble) -> Int {
        while true {
            #if canImport(Darwin)
            let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
            #elseif canImport(Musl)
            let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
            #else
            let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
            #endif
            if count >= 0 { return count }
            if errno != EINTR { throw Trouble("cannot read \(name): \(systemError())") }
        }
    }

    func closeFile() {
        if descriptor != STDIN_FILENO { close(descriptor) }
    }

    /// All of a small file.
    static func contents(of path: String, limit: Int) throws -> [UInt8] {
        let input = try FileInput(path)
        defer { input.closeFile() }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            if bytes.count > limit { throw Trouble("\(path) has more than \(limit) bytes") }
        }
    }
}
