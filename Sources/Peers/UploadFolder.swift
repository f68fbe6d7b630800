import Platform
import Synchronization
import Systems

/// A folder that stores each upload as a file under a name of its own, within limits: `0001-image.png`.
final class UploadFolder: UploadStorage {
    /// How much one run of a server stores, in bytes and files.
    static let limit = (bytes: 256 << 20, files: 10_000)

    /// Its path.
    let path: String
    private let isTemporary: Bool
    private let contents = Mutex(Contents())

    var place: String { path }

    private struct Contents {
        var names: [String] = []
        var byteCount = 0
        var number = 0
    }

    /// A folder.
    ///
    /// - Parameter path: an existing one; nil for a new one that `remove` removes.
    /// - Throws: `PeerError` if it cannot be created or written to.
    init(at path: String?) throws(PeerError) {
        isTemporary = path == nil
        if let path {
            guard access(path, W_OK | X_OK) == 0 else { throw PeerError("cannot store in \(path): \(Self.error)") }
            self.path = path
            return
        }
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = "\(base)/frametap-uploads-XXXXXX".utf8CString.map { $0 }
        guard let made = template.withUnsafeMutableBufferPointer({ $0.baseAddress.flatMap { mkdtemp($0) } }) else {
            throw PeerError("cannot make a folder in \(base): \(Self.error)")
        }
        self.path = String(cString: made)
    }

    /// Stores an upload. Existing files are left as they are.
    ///
    /// - Throws: `PeerError` if it is full, or the system refuses.
    func store(_ upload: Upload) throws(PeerError) {
        let result = contents.withLock { contents -> Result<Void, PeerError> in
            do throws(PeerError) {
                return .success(try store(upload, in: &contents))
            } catch {
                return .failure(error)
            }
        }
        try result.get()
    }

    private func store(_ upload: Upload, in contents: inout Contents) throws(PeerError) {
        let room = Self.limit.bytes - contents.byteCount
        guard contents.names.count < Self.limit.files, upload.payload.count <= room else {
            throw PeerError("\(path) is full: \(contents.names.count) files, \(contents.byteCount) B")
        }
        let (file, name) = try create(upload.suffix, &contents.number)
        defer { close(file) }
        contents.names.append(name)
        contents.byteCount += upload.payload.count
        var written = 0
        while written < upload.payload.count {
            let count = upload.payload.withUnsafeBytes { bytes in
                write(file, bytes.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw PeerError("cannot write \(path)/\(name): \(Self.error)") }
            written += count
        }
    }

    /// A new file with the next free number.
    private func create(_ suffix: String, _ number: inout Int) throws(PeerError) -> (file: Int32, name: String) {
        while true {
            number += 1
            let digits = String(number)
            let name = String(repeating: "0", count: max(0, 4 - digits.count)) + digits + suffix
            let file = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
            if file >= 0 { return (file, name) }
            guard errno == EEXIST else { throw PeerError("cannot make \(path)/\(name): \(Self.error)") }
        }
    }

    /// Removes a temporary folder with its contents; any other folder stays.
    func remove() {
        guard isTemporary else { return }
        for name in contents.withLock({ $0.names }) { unlink("\(path)/\(name)") }
        rmdir(path)
    }

    private static var error: String { String(cString: strerror(errno)) }
}
