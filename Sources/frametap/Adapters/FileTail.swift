import Platform
import Synchronization

/// What a file that is being written has gained.
final class FileTail: Sendable {
    private let path: String
    private let position: Mutex<Int>

    /// - Parameter position: how many bytes are known.
    init(_ path: String, from position: Int) {
        self.path = path
        self.position = Mutex(position)
    }

    /// The bytes since the last call; none if the file cannot be read.
    func read() -> [UInt8] {
        position.withLock { position in
            let descriptor = open(path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return [] }
            defer { close(descriptor) }
            var bytes: [UInt8] = []
            var chunk = [UInt8](repeating: 0, count: 64 << 10)
            while bytes.count < 1 << 24 {
                let count = pread(descriptor, &chunk, chunk.count, off_t(position))
                guard count > 0 else { break }
                bytes += chunk[..<count]
                position += count
            }
            return bytes
        }
    }
}
