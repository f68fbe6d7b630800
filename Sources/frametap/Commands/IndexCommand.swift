import ArgumentParser
import Framing
import Packets
import Platform
import Streams
import Trace

/// `frametap index`: where the packets of each connection are, so that `decode` can read those alone.
struct IndexCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Write an index beside each capture, for reading single connections or times.",
        discussion: """
            decode finds chat.pcap.ftindex by itself, and notices if the capture was modified since.

              frametap index day/*.pcap
              frametap decode day/*.pcap --connection-of 10.0.0.1:40000-10.0.0.2:80
            """)

    @Argument(help: ArgumentHelp("Capture files.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Write the indexes into this folder instead. It is created if it does not exist.", valueName: "folder"),
        completion: .directory)
    var output: String?

    func validate() throws {
        if files.contains("-") { throw ValidationError("- is standard input; expected files") }
        guard output != nil else { return }
        var paths: [String: String] = [:]
        for file in files {
            let path = IndexFile(of: file, in: output).path
            if let other = paths.updateValue(file, forKey: path) {
                throw ValidationError("\(other) and \(file) would both have the index \(path); expected other names")
            }
        }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let lines = FileOutput.standardOutput()
        lines.whenBroken = { $0.endProcess(unless: true) }
        if let output, mkdir(output, 0o700) != 0, errno != EEXIST {
            throw CommandError("cannot create the folder \(output): \(systemError())")
        }
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        var hasFailed = false
        for file in files where !progress.isOver {
            do {
                if try !index(file, lines, progress) { hasFailed = true }
            } catch {
                hasFailed = true
                warn(CaptureReading.describe(error, file))
            }
        }
        if progress.isInterrupted { warn("interrupted: not all captures have an index") }
        if hasFailed || progress.isInterrupted { throw ExitCode(2) }
    }

    /// Writes the index of a capture.
    ///
    /// - Returns: whether the capture could be read to its end.
    private func index(_ path: String, _ lines: FileOutput, _ progress: ReadingProgress) throws -> Bool {
        let input = try FileInput(path, progress)
        defer { input.closeFile() }
        guard let identity = input.identity else {
            throw CommandError("\(path) is not a regular file, but a pipe or a device: it cannot be indexed")
        }
        var reader = CaptureReader(input)
        var indexer = CaptureIndexer()
        let target = IndexFile(of: path, in: output).path
        var file: IndexOutput?
        var damage: CaptureError?
        let bar = ProgressBar(total: identity.size)
        defer { bar?.clear() }
        do {
            while !progress.isOver, file?.hasFailed != true, try reader.step(to: &indexer) != .end {
                bar?.update(bytes: reader.bytesRead, packets: reader.packetCount)
                guard indexer.end.readable > 0 else { continue }
                let begun = try file ?? Self.begin(target, identity, isCompressed: reader.isExpanding)
                begun.write(indexer.takeOutput())
                file = begun
            }
        } catch CaptureReadFailure<CommandError>.damaged(let error) {
            damage = error
        } catch {
            file?.abandon()
            throw error
        }
        if progress.isOver {
            file?.abandon()
            return false
        }
        let failure = damage.map { CaptureReadFailure<CommandError>.damaged($0) }
        // A file of which nothing could be read has no index.
        if let failure, indexer.end.readable == 0 { throw failure }
        indexer.finish(size: failure == nil && !reader.isExpanding ? identity.size : nil)
        let written = try file ?? Self.begin(target, identity, isCompressed: reader.isExpanding)
        written.write(indexer.takeOutput())
        try written.finish()
        if let status = FileStatus(of: path), status.size != identity.size || status.modified != identity.modified {
            warn("\(path) was modified while it was indexed: index it again")
        }
        lines.write(Self.line(path, target, indexer.end, written.length))
        if let failure { warn(CaptureReading.describe(failure, path)) }
        return failure == nil
    }

    /// Begins the index of a file as it is now.
    private static func begin(
        _ path: String, _ identity: FileStatus, isCompressed: Bool
    ) throws(CommandError) -> IndexOutput {
        let file = try IndexOutput(path)
        let header = IndexHeader(size: identity.size, modified: identity.modified, isCompressed: isCompressed)
        file.write(header.bytes)
        return file
    }

    private static func line(_ path: String, _ index: String, _ end: IndexEnd, _ length: Int) -> [UInt8] {
        var line = Array("{\"file\":".utf8)
        JSONOutput.string(path, into: &line)
        line += Array(",\"index\":".utf8)
        JSONOutput.string(index, into: &line)
        line += Array(",\"indexBytes\":\(length),\"packets\":\(end.packets),\"connections\":\(end.connections)".utf8)
        line += Array(",\"first\":\(text(end.times?.lowerBound)),\"last\":\(text(end.times?.upperBound))}\n".utf8)
        return line
    }

    private static func text(_ time: Timestamp?) -> String { time.map { "\"\($0.rfc3339)\"" } ?? "null" }
}
