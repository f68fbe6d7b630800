import Platform

/// A folder of shards.
struct ShardFolder {
    private let folder: String

    /// Creates the folder if it does not exist.
    init(_ folder: String) throws(CommandError) {
        self.folder = folder
        if mkdir(folder, 0o700) != 0, errno != EEXIST {
            throw CommandError("cannot create the folder \(folder): \(systemError())")
        }
    }

    /// The path of a shard.
    func path(of shard: Int) -> String {
        let digits = String(shard)
        return "\(folder)/shard-" + String(repeating: "0", count: max(0, 5 - digits.utf8.count)) + digits + ".pcapng"
    }

    /// Makes sure that the folder has no shards: those of another run would be taken for shards of this one.
    ///
    /// - Parameters:
    ///   - replaces: whether existing shards are deleted; otherwise they are an error.
    ///   - inputs: the files that are read, which are never deleted.
    func clear(replaces: Bool, inputs: [String]) throws(CommandError) {
        let shards = try shards()
        let read = inputs.filter { $0 != "-" }.compactMap { FileStatus(of: $0) }
        for path in shards {
            guard let status = FileStatus(of: path), read.contains(where: { $0.isSameFile(as: status) }) else {
                continue
            }
            throw CommandError("\(path) is a file that is read; expected another folder")
        }
        guard let first = shards.first else { return }
        guard replaces else {
            throw CommandError("\(first) exists; expected a folder without shards, or --force to replace them")
        }
        for path in shards where unlink(path) != 0 {
            throw CommandError("cannot replace \(path): \(systemError())")
        }
    }

    /// The paths of the shards in the folder, in order.
    private func shards() throws(CommandError) -> [String] {
        guard let names = Folder.names(in: folder) else {
            throw CommandError("cannot read the folder \(folder): \(systemError())")
        }
        return names.filter(Self.isShard).sorted().map { "\(folder)/\($0)" }
    }

    private static func isShard(_ name: String) -> Bool {
        guard name.hasPrefix("shard-"), name.hasSuffix(".pcapng") else { return false }
        let digits = name.dropFirst("shard-".count).dropLast(".pcapng".count)
        return digits.count >= 5 && digits.allSatisfy { $0.isASCII && $0.isNumber }
    }
}
