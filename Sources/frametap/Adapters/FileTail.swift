import Platform
import Synchronization

/// What a file that is being written has gained.
final class FileTail: Sendable {
    private let path: String
    private let place: Mutex<Place>

    /// How far a file is read.
    private struct Place {
        /// The file, as it was last; nil if it did not exist.
        var file: FileStatus?
        var position: Int
    }

    /// How much is read at once.
    private static let most = 1 << 24

    /// - Parameter position: how many bytes are known.
    init(_ path: String, from position: Int) {
        self.path = path
        place = Mutex(Place(file: FileStatus(of: path), position: position))
    }

    /// The lines since the last call; none if the file cannot be read. The beginning of a line is read with the rest of
    /// it, so that lines of several files are not joined.
    func read() -> [UInt8] {
        place.withLock { place in
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            if let file = FileStatus(ofDescriptor: descriptor) {
                let isOther = place.file.map { !$0.isSameFile(as: file) } ?? false
                // Replaced, or emptied.
                if isOther || (file.kind == .regular && file.size < place.position) { place.position = 0 }
                place.file = file
            }
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            while bytes.count < Self.most {
                let count = pread(descriptor, &chunk, chunk.count, off_t(place.position + bytes.count))
                guard count > 0 else { break }
                bytes += chunk[..<count]
            }
            let lines = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
            // A line that has no end is not waited for.
            if lines > 0 || bytes.count < Self.most { bytes.removeLast(bytes.count - lines) }
            place.position += bytes.count
            return bytes
        }
    }
}
