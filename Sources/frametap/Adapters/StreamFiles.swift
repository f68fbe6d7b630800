import Platform
import Streams

/// Writes the bytes of each direction of each connection to a file of its own: `NNNN-client.bin`, `NNNN-server.bin`; of what a
/// proxy passed on, `NNNN-out-client.bin`.
///
/// A connection may be open for as long as the capture lasts, and there may be a million of them: bytes are gathered in memory, and a
/// file is open only while they are written to it.
final class StreamFiles {
    /// How many bytes of a direction are gathered before they are written.
    private static let pieceSize = 128 << 10
    /// How many bytes are gathered in all, and for how many directions; above either limit, all are written.
    private static let (mostBytes, mostDirections) = (16 << 20, 16_384)

    private struct Key: Hashable {
        var connection: ConnectionLeg
        var direction: Direction
    }

    private let folder: String
    private let fillsMissing: Bool
    private var gathered: [Key: [UInt8]] = [:]
    private var gatheredBytes = 0
    /// The files of open connections that already exist.
    private var created: Set<Key> = []
    /// Whether a write failed; that was reported once. What other files were to get until then is written.
    private(set) var hasFailed = false

    /// Creates the folder if it does not exist.
    ///
    /// - Parameter fillsMissing: whether missing bytes are written as zeros.
    init(in folder: String, fillsMissing: Bool) throws(CommandError) {
        (self.folder, self.fillsMissing) = (folder, fillsMissing)
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw CommandError("cannot create the folder \(folder): \(systemError())")
        }
    }

    func write(_ bytes: RawSpan, of connection: ConnectionLeg, _ direction: Direction) {
        guard !hasFailed else { return }
        let key = Key(connection: connection, direction: direction)
        gatheredBytes += bytes.byteCount
        bytes.withUnsafeBytes { gathered[key, default: []].append(contentsOf: $0) }
        if let count = gathered[key]?.count, count >= Self.pieceSize { writeGathered(of: key) }
        if gatheredBytes > Self.mostBytes || gathered.count > Self.mostDirections { flush() }
    }

    /// A gap: the file is extended, which takes no space on most disks.
    func missing(_ byteCount: Int, of connection: ConnectionLeg, _ direction: Direction) {
        guard fillsMissing, !hasFailed else { return }
        let key = Key(connection: connection, direction: direction)
        writeGathered(of: key)
        guard !hasFailed else { return }
        withFile(of: key) { descriptor in
            let length = lseek(descriptor, 0, SEEK_END)
            return length >= 0 && ftruncate(descriptor, length + off_t(byteCount)) == 0
        }
    }

    /// The connection is over: both of its files exist, and have all bytes.
    func finish(_ connection: ConnectionLeg) {
        for direction in Direction.allCases {
            let key = Key(connection: connection, direction: direction)
            if !hasFailed, !created.contains(key) || gathered[key] != nil { writeGathered(of: key) }
            created.remove(key)
        }
    }

    /// Writes all bytes that were gathered.
    func flush() {
        for key in gathered.keys { writeGathered(of: key) }
    }

    private func writeGathered(of key: Key) {
        let bytes = gathered.removeValue(forKey: key) ?? []
        gatheredBytes -= bytes.count
        withFile(of: key) { descriptor in
            var written = 0
            while written < bytes.count {
                let count = bytes.withUnsafeBytes { bytes in
                    let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                    return Platform.write(descriptor, rest.baseAddress, rest.count)
                }
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return false }
                written += count
            }
            return true
        }
    }

    /// Opens the file of a direction, and closes it again.
    ///
    /// - Parameter body: returns false if a call of the system has failed.
    private func withFile(of key: Key, _ body: (Int32) -> Bool) {
        // The file of an earlier listing is replaced; a file that this one wrote is continued.
        let flags = created.contains(key) ? O_APPEND : O_CREAT | O_TRUNC | O_APPEND
        let descriptor = Platform.open(path(of: key), O_WRONLY | O_CLOEXEC | flags, 0o600)
        guard descriptor >= 0, body(descriptor) else {
            fail(key)
            if descriptor >= 0 { close(descriptor) }
            return
        }
        close(descriptor)
        created.insert(key)
    }

    /// Reports the first failure, and writes what was gathered for the other files, as far as they can be written.
    private func fail(_ key: Key) {
        guard !hasFailed else { return }
        warn("cannot write \(path(of: key)): \(systemError()); no more streams are written")
        hasFailed = true
        flush()
    }

    private func path(of key: Key) -> String {
        let digits = String(key.connection.number)
        let number = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        let leg = key.connection.leg == .out ? "out-" : ""
        return "\(folder)/\(number)-\(leg)\(key.direction.sender).bin"
    }
}
