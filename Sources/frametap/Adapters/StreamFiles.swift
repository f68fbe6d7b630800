import Platform
import Streams

/// Writes the bytes of each direction of each connection to a file of its own: `NNNN-client.bin`, `NNNN-server.bin`; of what a
/// proxy passed on, `NNNN-out-client.bin`.
///
/// A connection may be open for as long as the capture lasts, and there may be a million of them: only the most recently written
/// files stay open.
final class StreamFiles {
    /// The maximum number of open files.
    private static let mostOpen = 64

    private struct Key: Hashable {
        var connection: ConnectionLeg
        var direction: Direction
    }

    private struct OpenFile {
        var key: Key
        var descriptor: Int32
        var lastUse: Int
    }

    private let folder: String
    private let fillsMissing: Bool
    private var open: [OpenFile] = []
    private var uses = 0
    /// The files of open connections that already exist.
    private var created: Set<Key> = []
    /// Whether a write failed; that was reported once.
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

    deinit {
        for file in open { close(file.descriptor) }
    }

    func write(_ bytes: RawSpan, of connection: ConnectionLeg, _ direction: Direction) {
        let key = Key(connection: connection, direction: direction)
        guard let descriptor = descriptor(of: key) else { return }
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = Platform.write(descriptor, rest.baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { return fail(key) }
                written += count
            }
        }
    }

    /// A gap: the file is extended, which takes no space on most disks.
    func missing(_ byteCount: Int, of connection: ConnectionLeg, _ direction: Direction) {
        guard fillsMissing else { return }
        let key = Key(connection: connection, direction: direction)
        guard let descriptor = descriptor(of: key) else { return }
        let length = lseek(descriptor, 0, SEEK_END)
        if length < 0 || ftruncate(descriptor, length + off_t(byteCount)) != 0 { fail(key) }
    }

    /// The connection is over: both of its files exist, and are closed.
    func finish(_ connection: ConnectionLeg) {
        for direction in Direction.allCases {
            let key = Key(connection: connection, direction: direction)
            if !created.contains(key) { _ = descriptor(of: key) }
            created.remove(key)
            if let index = open.firstIndex(where: { $0.key == key }) { close(open.remove(at: index).descriptor) }
        }
    }

    /// The open file of a direction; nil if it cannot be opened.
    private func descriptor(of key: Key) -> Int32? {
        guard !hasFailed else { return nil }
        uses += 1
        if let index = open.firstIndex(where: { $0.key == key }) {
            open[index].lastUse = uses
            return open[index].descriptor
        }
        if open.count >= Self.mostOpen, let oldest = open.indices.min(by: { open[$0].lastUse < open[$1].lastUse }) {
            close(open.remove(at: oldest).descriptor)
        }
        // The file of an earlier listing is replaced; a file that this one wrote is continued.
        let way = created.contains(key) ? O_APPEND : O_CREAT | O_TRUNC | O_APPEND
        let descriptor = Platform.open(path(of: key), O_WRONLY | O_CLOEXEC | way, 0o600)
        guard descriptor >= 0 else {
            fail(key)
            return nil
        }
        created.insert(key)
        open.append(OpenFile(key: key, descriptor: descriptor, lastUse: uses))
        return descriptor
    }

    private func path(of key: Key) -> String {
        let digits = String(key.connection.number)
        let number = String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
        let leg = key.connection.leg == .out ? "out-" : ""
        return "\(folder)/\(number)-\(leg)\(key.direction.sender).bin"
    }

    private func fail(_ key: Key) {
        let reason = systemError()
        if !hasFailed { warn("cannot write \(path(of: key)): \(reason); no more streams are written") }
        hasFailed = true
    }
}
