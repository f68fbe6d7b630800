import ArgumentParser
import Framing
import Packets
import Platform
import Streams
import Trace

/// `frametap shard`: captures split by connection, so that several processes can each read a part.
struct ShardCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "shard",
        abstract: "Split captures by connection into several captures.",
        discussion: """
            All packets of a connection are in one shard, in the order in which they are read. The shard depends only on the two \
            endpoints, so shards of different captures match if the number of shards is the same. Prints a line of JSON for \
            each shard.

              frametap shard day/*.pcap --shards 16 --output shards
              frametap decode shards/*.pcapng
            """)

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("How many shards there are, up to \(ShardCommand.most).", valueName: "n"))
    var shards: Int

    @Option(
        help: ArgumentHelp(
            "The folder for the shards, shard-00000.pcapng and so on. It is created if it does not exist.",
            valueName: "folder"), completion: .directory)
    var output: String

    @Flag(help: "Replace the shards that are in the folder.")
    var force = false

    @Flag(
        name: .customLong("no-origins"),
        help:
            "Do not add a comment to each packet that says which packet of which file it was. It takes a third of the shards if packets are small."
    )
    var leavesOutOrigins = false

    private static let most = 4_096

    func validate() throws {
        if !(1...Self.most).contains(shards) {
            throw ValidationError("--shards is \(shards); expected 1 to \(Self.most)")
        }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let lines = FileOutput.standardOutput()
        lines.whenBroken = { $0.endProcess(unless: true) }
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        var timeline = TimelineReading(files, progress)
        guard !timeline.paths.isEmpty else {
            for complaint in timeline.complaints { warn(complaint) }
            throw ExitCode(2)
        }
        let shardFiles = try ShardFiles(in: output, count: shards, replaces: force, inputs: timeline.paths)
        let names = timeline.paths.map { $0 == "-" ? "standard input" : $0 }
        var packets = MergedPackets(
            to: CaptureSharder(
                shards, of: names, application: Frametap.tool, tellsOrigins: !leavesOutOrigins, to: shardFiles))
        timeline.read(to: &packets, progress: progress, showsProgress: true) { _ in
            if shardFiles.failure != nil { progress.isDone = true }
        }
        packets.receiver.finish()
        shardFiles.finish()
        for complaint in timeline.complaints { warn(complaint) }
        if let failure = shardFiles.failure {
            warn("\(failure); the shards are not complete")
            throw ExitCode(2)
        }
        lines.write(Self.listing(packets.receiver.counts, shardFiles.paths))
        // The shards are incomplete, and must not be taken for the whole capture.
        if progress.isInterrupted { warn("interrupted: the shards have only what was read so far") }
        if !timeline.complaints.isEmpty || progress.isInterrupted { throw ExitCode(2) }
    }

    private static func listing(_ counts: [ShardCounts], _ paths: [String]) -> [UInt8] {
        var lines: [UInt8] = []
        for (index, (shard, path)) in zip(counts, paths).enumerated() {
            lines += Array("{\"shard\":\(index),\"file\":".utf8)
            JSONOutput.string(path, into: &lines)
            lines += Array(",\"packets\":\(shard.packets),\"bytes\":\(shard.bytes),\"first\":".utf8)
            lines += Array("\(text(shard.first)),\"last\":\(text(shard.last))}\n".utf8)
        }
        return lines
    }

    private static func text(_ time: Timestamp?) -> String { time.map { "\"\($0.rfc3339)\"" } ?? "null" }
}
