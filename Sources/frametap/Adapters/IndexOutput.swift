import Packets
import Platform

/// Writes an index as a whole or not at all: under another name at first.
final class IndexOutput {
    private let path: String
    private let temporary: String
    private let file: FileOutput
    private var failure: String?
    /// Whether something could not be written.
    var hasFailed: Bool { failure != nil }
    /// How many bytes it has.
    private(set) var length = 0

    /// Begins an index.
    init(_ path: String) throws(CommandError) {
        let temporary = "\(path).\(getpid()).new"
        (self.path, self.temporary) = (path, temporary)
        try Self.check(path)
        // Left over by a process that was killed; its number is ours now.
        unlink(temporary)
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw CommandError("cannot create \(path): \(systemError())") }
        file = FileOutput(descriptor: descriptor, name: path, closes: true)
        file.whenBroken = { [weak self] in self?.failure = $0.message }
    }

    /// A file that is no index is not replaced by one.
    private static func check(_ path: String) throws(CommandError) {
        guard let status = FileStatus(of: path) else { return }
        guard status.kind == .regular else {
            throw CommandError("\(path) is not a file; expected an index, or nothing")
        }
        let input = try FileInput(path)
        defer { input.closeFile() }
        var bytes = [UInt8](repeating: 0, count: 8)
        let outcome = bytes.withUnsafeMutableBytes { room -> Result<Int, CommandError> in
            do throws(CommandError) { return .success(try input.read(into: room)) } catch { return .failure(error) }
        }
        let count = try outcome.get()
        guard count == 0 || IndexHeader.isIndex(bytes[..<count]) else {
            throw CommandError(
                "\(path) exists and is not an index; move it, or write indexes elsewhere with --output DIR")
        }
    }

    func write(_ bytes: [UInt8]) {
        guard !bytes.isEmpty else { return }
        file.write(bytes)
        length += bytes.count
    }

    /// The index is complete.
    func finish() throws(CommandError) {
        if failure == nil, rename(temporary, path) != 0 { failure = "cannot write \(path): \(systemError())" }
        guard let failure else { return }
        unlink(temporary)
        throw CommandError(failure)
    }

    /// There will be no index.
    func abandon() { unlink(temporary) }
}
