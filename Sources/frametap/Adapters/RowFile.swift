import Platform
import Tables

/// Rows that wait, in a file without a name: it is gone with the process.
final class RowFile: RowStore {
    private let descriptor: Int32
    private let path: String
    private let whenFailed: (String) -> Void
    private var size = 0
    private var isBroken = false

    init(in folder: String, whenFailed: @escaping (String) -> Void) throws(CommandError) {
        (path, self.whenFailed) = ("\(folder)/rows.\(getpid()).partial", whenFailed)
        descriptor = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot write \(path): \(systemError())") }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) -> Range<Int> {
        let place = size..<size + bytes.count
        size = place.upperBound
        guard !isBroken else { return place }
        bytes.withUnsafeBytes { bytes in
            var written = 0
            while written < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(place.lowerBound + written))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return fail("write") }
                written += count
            }
        }
        return place
    }

    /// Nothing after a failure: what was kept may not be what is read.
    func read(_ place: Range<Int>) -> [UInt8] {
        guard !isBroken else { return [] }
        let bytes = [UInt8](unsafeUninitializedCapacity: place.count) { room, count in
            while count < place.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...])
                let read = pread(descriptor, rest.baseAddress, rest.count, off_t(place.lowerBound + count))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else { return fail("read") }
                count += read
            }
        }
        return isBroken ? [] : bytes
    }

    private func fail(_ what: String) {
        isBroken = true
        whenFailed("cannot \(what) \(path): \(systemError())")
    }
}
