import Packets
import Platform

/// The index of a capture: `chat.pcap.ftindex`, beside it or in a folder.
struct IndexFile {
    /// Where it is, or would be.
    let path: String
    private let capture: String

    /// - Parameter folder: the folder of all indexes; nil: that of the capture.
    init(of capture: String, in folder: String?) {
        self.capture = capture
        let name = capture.lastIndex(of: "/").map { capture[capture.index(after: $0)...] } ?? capture[...]
        path = (folder.map { "\($0)/\(name)" } ?? capture) + ".ftindex"
    }

    /// What is known of a capture's index.
    enum Condition {
        /// It has none.
        case absent
        /// It cannot be used: why.
        case useless(String)
        case usable(IndexHeader)
    }

    /// Checks whether it is the index of the capture as that is now.
    var condition: Condition {
        guard let kind = FileStatus(of: path)?.kind else { return .absent }
        guard kind == .regular else { return .useless("\(path) is not a regular file; expected an index") }
        do {
            let input = try FileInput(path)
            defer { input.closeFile() }
            var reader = IndexReader(input)
            let header = try reader.header()
            guard let status = FileStatus(of: capture) else { return .absent }
            if header.size != status.size {
                return .useless(
                    "\(path) is of other content: \(capture) had \(header.size) bytes, and has \(status.size); frametap index makes it again"
                )
            }
            if header.modified != status.modified {
                return .useless(
                    "\(path) is of other content: \(capture) was modified since; frametap index makes it again")
            }
            return .usable(header)
        } catch {
            return .useless(Self.describe(error, path))
        }
    }

    /// Reads records.
    ///
    /// - Parameter isWanted: whether the connections of a chunk are read.
    func read(where isWanted: (IndexChunk) -> Bool, _ take: (IndexRecord) -> Void) throws {
        let input = try FileInput(path)
        defer { input.closeFile() }
        var reader = IndexReader(input)
        _ = try reader.header()
        while let records = try reader.next(where: isWanted) {
            for record in records { take(record) }
        }
    }

    static func describe(_ error: any Error, _ path: String) -> String { CaptureReading.describe(error, path) }
}
