import Packets
import Platform
import Streams

/// The files of shards: `shard-00000.pcapng`, `shard-00001.pcapng` and so on in one folder, readable by their owner only.
///
/// There may be thousands: each has a buffer, all of them a limit, and a file is open only while it is written to.
final class ShardFiles: ShardOutput {
    /// How much all buffers may hold.
    private static let mostHeld = 64 << 20
    /// How much a buffer may hold.
    private let mostHeldByOne: Int
    /// Whether the memory of buffers is used again: up to twice of what they hold.
    private let keepsMemory: Bool

    private struct File {
        let path: String
        let identity: FileStatus
        /// How many bytes it has.
        var length = 0
        var buffer: [UInt8] = []
    }

    private let folder: ShardFolder
    // Used for each packet. What appends to a buffer never comes back here.
    @exclusivity(unchecked) private var files: [File] = []
    @exclusivity(unchecked) private var held = 0
    /// Why nothing more can be written; nil while it can.
    @exclusivity(unchecked) private(set) var failure: String?

    /// Creates the files.
    ///
    /// - Parameters:
    ///   - path: the folder, which is created if it does not exist.
    ///   - replaces: whether shards that are in the folder are replaced; otherwise they are an error.
    ///   - inputs: the files that are read.
    init(in path: String, count: Int, replaces: Bool, inputs: [String]) throws(CommandError) {
        mostHeldByOne = max(64 << 10, min(256 << 10, Self.mostHeld / 2 / max(1, count)))
        keepsMemory = 2 * mostHeldByOne * count <= Self.mostHeld
        folder = try ShardFolder(path)
        try folder.clear(replaces: replaces, inputs: inputs)
        for index in 0..<count {
            do throws(CommandError) {
                let path = folder.path(of: index)
                files.append(File(path: path, identity: try Self.create(path)))
            } catch {
                // Nothing was written: empty shards would only be in the way of the next attempt.
                for file in files { unlink(file.path) }
                throw error
            }
        }
    }

    /// The paths of the files.
    var paths: [String] { files.map(\.path) }

    func append(to shard: Int, _ write: (inout [UInt8]) -> Void) {
        guard failure == nil else { return }
        let before = files[shard].buffer.count
        write(&files[shard].buffer)
        let count = files[shard].buffer.count
        held += count - before
        if count >= mostHeldByOne {
            self.write(shard)
        } else if held >= Self.mostHeld {
            writeLargest()
        }
    }

    /// Writes everything that is held. If something could not be written, shards without content are deleted: nobody could read them.
    func finish() {
        for shard in files.indices where failure == nil { write(shard) }
        if failure != nil { for file in files where file.length == 0 { unlink(file.path) } }
    }

    private func writeLargest() {
        for shard in files.indices.sorted(by: { files[$0].buffer.count > files[$1].buffer.count }) {
            write(shard)
            if held <= Self.mostHeld / 2 || failure != nil { return }
        }
    }

    private func write(_ shard: Int) {
        var bytes: [UInt8] = []
        swap(&bytes, &files[shard].buffer)
        held -= bytes.count
        defer {
            // A block of secrets or names may be larger than all else.
            if keepsMemory, bytes.capacity <= 2 * mostHeldByOne {
                bytes.removeAll(keepingCapacity: true)
                swap(&bytes, &files[shard].buffer)
            }
        }
        guard !bytes.isEmpty, let file = reopen(files[shard]) else { return }
        // Not weak: an object that ever was referred to weakly counts its references, one for each packet, in the slow way. The file is
        // gone before this object.
        file.whenBroken = { self.failure = $0.message }
        file.write(bytes)
        // What was written of it in part is taken back: what is left can be read.
        if failure != nil { file.cut(to: files[shard].length) } else { files[shard].length += bytes.count }
    }

    /// Opens a file again; nil if that is not possible, or if it is another file by now.
    private func reopen(_ file: File) -> FileOutput? {
        let descriptor = open(file.path, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            failure = "cannot open \(file.path): \(systemError())"
            return nil
        }
        let output = FileOutput(descriptor: descriptor, name: file.path, closes: true)
        guard FileStatus(ofDescriptor: descriptor)?.isSameFile(as: file.identity) == true else {
            failure = "\(file.path) was replaced by another file while it was written"
            return nil
        }
        return output
    }

    private static func create(_ path: String) throws(CommandError) -> FileStatus {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        defer { close(descriptor) }
        guard let status = FileStatus(ofDescriptor: descriptor) else {
            throw CommandError("cannot create \(path): \(systemError())")
        }
        return status
    }
}
