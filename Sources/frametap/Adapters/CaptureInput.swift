import Packets
import Platform

/// One of several captures: a file is open only while it is being read, so that there may be more files than a process may have
/// open. A pipe stays open.
struct CaptureInput: ByteSource {
    private let path: String
    private let identity: FileStatus?
    private let pipe: FileInput?
    /// What is read of the file, in order; nil: all.
    private let extents: [Range<Int>]?
    private var extent = 0
    private var offset = 0

    /// Checks whether the file can be read; `-` is standard input.
    ///
    /// - Parameter extents: what is read of the file, in order; nil: all.
    init(_ path: String, _ progress: ReadingProgress, extents: [Range<Int>]? = nil) throws(CommandError) {
        self.path = path
        self.extents = extents
        let input = try FileInput(path, progress)
        identity = input.identity
        pipe = input.identity == nil || path == "-" ? input : nil
        if pipe == nil { input.closeFile() }
    }

    /// How many bytes are read; nil if that is not known.
    var size: Int? { extents?.reduce(0) { $0 + $1.count } ?? identity?.size }
    /// Whether more data may arrive while it is being read.
    var isFollowed: Bool { pipe?.isFollowed ?? false }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(CommandError) -> Int {
        if let pipe { return try pipe.read(into: buffer) }
        let input = try FileInput(path)
        defer { input.closeFile() }
        guard let identity, input.identity?.isSameFile(as: identity) == true else {
            throw CommandError("\(path) was replaced by another file while it was read; run the command again")
        }
        guard let extents else {
            let count = try input.read(into: buffer, at: offset)
            offset += count
            return count
        }
        return try read(extents, of: input, into: buffer)
    }

    /// Reads the next bytes of extents: as many as there is room for, since opening the file takes longer than reading a little.
    private mutating func read(
        _ extents: [Range<Int>], of input: FileInput, into buffer: UnsafeMutableRawBufferPointer
    ) throws(CommandError) -> Int {
        var filled = 0
        while filled < buffer.count, extent < extents.count {
            offset = max(offset, extents[extent].lowerBound)
            let most = min(buffer.count - filled, extents[extent].upperBound - offset)
            if most > 0 {
                let room = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + most])
                let count = try input.read(into: room, at: offset)
                if count == 0 { return filled }
                offset += count
                filled += count
            }
            if offset >= extents[extent].upperBound { extent += 1 }
        }
        return filled
    }

    /// Where in the file a byte is, given how many were read before it.
    func place(of position: Int) -> Int {
        guard let extents else { return position }
        var rest = position
        for extent in extents {
            if rest < extent.count { return extent.lowerBound + rest }
            rest -= extent.count
        }
        return (extents.last?.upperBound ?? 0) + rest
    }

    func closeFile() {
        pipe?.closeFile()
    }
}
