import Packets
import Platform

/// One of several captures: a file is open only while it is being read, so that there may be more files than a process may have
/// open. A pipe stays open.
struct CaptureInput: ByteSource {
    private let path: String
    private let identity: FileStatus?
    private let pipe: FileInput?
    private var offset = 0

    /// Checks whether the file can be read; `-` is standard input.
    init(_ path: String, _ progress: ReadingProgress) throws(CommandError) {
        self.path = path
        let input = try FileInput(path, progress)
        identity = input.identity
        pipe = input.identity == nil || path == "-" ? input : nil
        if pipe == nil { input.closeFile() }
    }

    /// Its length; nil if it has no known length.
    var size: Int? { identity?.size }
    /// Whether more data may arrive while it is being read.
    var isFollowed: Bool { pipe?.isFollowed ?? false }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        if let pipe { return try pipe.read(into: buffer) }
        let input = try FileInput(path)
        defer { input.closeFile() }
        guard let identity, input.identity?.isSameFile(as: identity) == true else {
            throw CommandError("\(path) was replaced by another file while it was read")
        }
        let count = try input.read(into: buffer, at: offset)
        offset += count
        return count
    }

    func closeFile() {
        pipe?.closeFile()
    }
}
