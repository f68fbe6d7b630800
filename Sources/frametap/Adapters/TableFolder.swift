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

    /// What files are called until then: another process that writes here has other names.
    private static let unfinished = ".\(getpid()).partial"
    /// There are eight for each day: packets of many years have wrong times.
    private static let most = 16_384

    /// Creates the folder if it does not exist.
    ///
    /// - Parameter name: what its files will be called; none of them may exist.
    init(_ folder: String, _ name: FileName) throws(CommandError) {
        self.folder = folder
        try Self.makeFolder(folder)
        for table in Table.allCases {
            for day in Folder.names(in: "\(folder)/\(table.name)") ?? [] {
                for name in name.all.map({ "\(folder)/\(table.name)/\(day)/\($0)" }) where FileStatus(of: name) != nil {
                    throw Self.taken(name)
                }
            }
        }
    }

    private static func taken(_ path: String) -> CommandError {
        CommandError("\(path) exists; expected a folder without tables of that --name")
    }

    /// Creates a file. After a failure, what is written to it is discarded.
    func create(_ path: String) -> any ByteOutput {
        guard failure == nil else { return DiscardedOutput() }
        let path = "\(folder)/\(path)"
        do {
            if created.count >= Self.most {
                throw CommandError(
                    "\(path) would be one of more than \(Self.most) files: the packets are of too many days; expected times that are right"
                )
            }
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            for count in [parts.count - 2, parts.count - 1] {
                try Self.makeFolder(parts[..<count].joined(separator: "/"))
            }
            let output = try AppendedFile(creating: path + Self.unfinished) { [unowned self] in fail($0) }
            created.append(path)
            return output
        } catch {
            fail("\(error)")
            return DiscardedOutput()
        }
    }

    /// A file for rows that wait.
    func store() throws(CommandError) -> RowFile {
        try RowFile(in: folder) { [unowned self] in fail($0) }
    }

    /// Gives the files their names, or deletes all of them if one cannot have it.
    func finish() {
        var named: [String] = []
        for path in created where failure == nil {
            if FileStatus(of: path) != nil {
                fail("\(Self.taken(path))")
            } else if rename(path + Self.unfinished, path) != 0 {
                fail("cannot write \(path): \(systemError())")
            } else {
                named.append(path)
            }
        }
        guard failure != nil else { return }
        for path in created { unlink(path + Self.unfinished) }
        for path in named { unlink(path) }
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

/// An output for what nobody will read.
private final class DiscardedOutput: ByteOutput {
    func write(_ bytes: [UInt8]) {}
}
