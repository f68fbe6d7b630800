import Platform
import Tables
import Trace

/// The folder of tables.
///
/// Files get their names when all of them are complete, so that nobody reads a part.
final class TableFolder {
    private let folder: String
    private var created: [String] = []
    /// Why the tables are not complete; nil if they are.
    private(set) var failure: String?
    /// Called when that is known.
    var whenFailed: () -> Void = {}

    private static let unfinished = ".partial"

    /// Creates the folder if it does not exist.
    ///
    /// - Parameter name: what its files will be called; none of them may exist.
    init(_ folder: String, _ name: FileName) throws(CommandError) {
        self.folder = folder
        try Self.makeFolder(folder)
        for table in Table.allCases {
            for day in Folder.names(in: "\(folder)/\(table.name)") ?? [] {
                for name in name.all.map({ "\(folder)/\(table.name)/\(day)/\($0)" }) where FileStatus(of: name) != nil {
                    throw CommandError("\(name) exists; expected a folder without tables of that --name")
                }
            }
        }
    }

    /// Creates a file.
    func create(_ path: String) -> any ByteOutput {
        let path = "\(folder)/\(path)"
        do {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            for count in [parts.count - 2, parts.count - 1] {
                try Self.makeFolder(parts[..<count].joined(separator: "/"))
            }
            let output = try AppendedFile(creating: path + Self.unfinished) { [unowned self] in fail($0) }
            created.append(path)
            return output
        } catch {
            fail("\(error)")
            return MemoryOutput()
        }
    }

    /// A file for rows that wait.
    func store() throws(CommandError) -> RowFile {
        try RowFile(in: folder) { [unowned self] in fail($0) }
    }

    /// Gives the files their names.
    func finish() {
        for path in created where failure == nil && rename(path + Self.unfinished, path) != 0 {
            fail("cannot write \(path): \(systemError())")
        }
        if failure != nil { for path in created { unlink(path + Self.unfinished) } }
    }

    private func fail(_ message: String) {
        guard failure == nil else { return }
        failure = message
        whenFailed()
    }

    private static func makeFolder(_ path: String) throws(CommandError) {
        if mkdir(path, 0o700) != 0, errno != EEXIST {
            throw CommandError("cannot create the folder \(path): \(systemError())")
        }
    }
}

/// A file that is open only while it is written to: there may be hundreds.
final class AppendedFile: ByteOutput {
    private let path: String
    private let whenFailed: (String) -> Void
    private var isBroken = false

    /// Creates the file, or empties it.
    init(creating path: String, whenFailed: @escaping (String) -> Void) throws(CommandError) {
        (self.path, self.whenFailed) = (path, whenFailed)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot write \(path): \(systemError())") }
        close(descriptor)
    }

    func write(_ bytes: [UInt8]) {
        guard !isBroken else { return }
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC)
        guard descriptor >= 0 else { return fail() }
        defer { close(descriptor) }
        if !writeAll(bytes, to: descriptor) { fail() }
    }

    private func fail() {
        isBroken = true
        whenFailed("cannot write \(path): \(systemError())")
    }
}

/// Rows that wait, in a file without a name: it is gone with the process.
final class RowFile: RowStore {
    private let descriptor: Int32
    private let path: String
    private let whenFailed: (String) -> Void
    private var size = 0

    init(in folder: String, whenFailed: @escaping (String) -> Void) throws(CommandError) {
        (path, self.whenFailed) = ("\(folder)/rows-\(getpid()).partial", whenFailed)
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot write \(path): \(systemError())") }
        unlink(path)
    }

    deinit { close(descriptor) }

    func append(_ bytes: [UInt8]) -> Range<Int> {
        let place = size..<size + bytes.count
        if !writeAll(bytes, to: descriptor) { whenFailed("cannot write \(path): \(systemError())") }
        size = place.upperBound
        return place
    }

    func read(_ place: Range<Int>) -> [UInt8] {
        var isComplete = true
        let bytes = [UInt8](unsafeUninitializedCapacity: place.count) { room, count in
            while count < place.count {
                let rest = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[count...])
                let read = pread(descriptor, rest.baseAddress, rest.count, off_t(place.lowerBound + count))
                if read < 0, errno == EINTR { continue }
                guard read > 0 else {
                    isComplete = false
                    return
                }
                count += read
            }
        }
        guard isComplete else {
            whenFailed("cannot read \(path): \(systemError())")
            return []
        }
        return bytes
    }
}

/// Writes all bytes; returns whether that was possible.
private func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
    bytes.withUnsafeBytes { bytes in
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Platform.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return true
    }
}
