import Analysis
import ArgumentParser
import Framing
import Packets
import Pipeline
import Platform
import Streams
import Tables
import Trace

/// `frametap tables`: captures in, tables out that databases read.
struct TablesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tables",
        abstract: "Decode captures into Parquet tables: connections, frames, findings, round trips.",
        discussion: """
            Each table is a folder with a folder for each day. Prints a line of JSON for each file, each format, and the totals.

              frametap tables day/*.pcap --output tables
              duckdb -c "select type, count(*) from 'tables/frames/*/*.parquet' group by all"
            """)

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp("The folder for the tables. It is created if it does not exist.", valueName: "folder"),
        completion: .directory)
    var output: String

    @Option(help: ArgumentHelp("What files are called, without .parquet.", valueName: "name"))
    var name = "trace"

    @Option(help: ArgumentHelp("Keep at most N bytes of each body; 0 keeps none.", valueName: "bytes"))
    var bodyLimit = OutputOptions.usualBodyLimit

    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup(title: "Several runs") var tables: TableOptions
    @OptionGroup(title: "Reading less") var connections: ConnectionOptions
    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions
    @OptionGroup var threads: ThreadOptions

    func validate() throws {
        if bodyLimit < 0 { throw ValidationError("--body-limit is \(bodyLimit); expected 0 or more bytes") }
        if name.isEmpty || name.contains("/") {
            throw ValidationError("--name is \(name.isEmpty ? "empty" : name); expected a file's name, without /")
        }
        if files.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- is given more than once; standard input can be read only once")
        }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let lines = FileOutput.standardOutput()
        lines.whenBroken = { $0.endProcess(unless: true) }
        let selection = try tables.selection()
        let fileName = FileName(name, isSplit: tables.isSplit)
        let folder = try TableFolder(output, fileName)
        let sink = TableSink(
            selection, name: fileName, application: Self.writer, bodyLimit: bodyLimit, store: try folder.store(),
            create: folder.create)
        let (reading, progress) = try read(to: sink, folder)
        folder.finish()
        if let failure = folder.failure {
            warn("\(failure); the tables are not complete, and nothing was kept")
            throw ExitCode(2)
        }
        lines.write(TableListing.lines(sink.outcome))
        if sink.outcome.late > 0 {
            warn(
                "\(Quantities.counted(sink.outcome.late, "event")) came after the end of their connection, and are left out"
            )
        }
        if progress.isInterrupted { warn("interrupted: the tables have only what was read so far") }
        if reading.hasFailed || progress.isInterrupted { throw ExitCode(2) }
    }

    /// The program as Parquet's readers expect it, to know of the faults of old versions: NAME version NUMBER.
    private static let writer = Frametap.tool.split(separator: " ").joined(separator: " version ")

    private func read(
        to sink: TableSink, _ folder: TableFolder
    ) throws -> (reading: (hasFailed: Bool, counters: CaptureCounters), progress: ReadingProgress) {
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        options.tls = try decryption.decoding()
        options.idleTimeout = reassembly.idleTimeout.interval
        memory.apply(to: &options)
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        folder.whenFailed = { progress.isDone = true }
        var analyses = Decoder.allAnalyses(
            replacing: options.extraAnalyses() + [RoundTripMonitor { sink.answered($0) }])
        // A client's reconnects are in several shards.
        if tables.shard { analyses.removeAll { $0 is ReconnectStorms } }
        let decoder = Decoder(options, analyses: analyses, sinks: [sink])
        var reassembly = reassembly.options(for: files)
        reassembly.serverPorts = options.serverPorts
        memory.apply(to: &reassembly)
        let plan = try connections.plan(for: files, since: nil, until: nil)
        let reading = read(with: reassembly, plan, to: decoder, progress)
        reading.counters.warnOfUnreadLinkTypes()
        decoder.finish(skipped: reading.counters.skippedByKind)
        connections.warnOfNone(decoder.summary)
        return (reading, progress)
    }

    private func read(
        with options: ReassemblyOptions, _ plan: ReadingPlan?, to decoder: Decoder, _ progress: ReadingProgress
    ) -> (hasFailed: Bool, counters: CaptureCounters) {
        if !threads.isAlone, ParallelReading.suits(files) {
            var reading = ParallelReading()
            reading.read(files, options: options, to: decoder, plan: plan, progress: progress)
            return (reading.hasFailed, reading.counters)
        }
        var reading = CaptureReading()
        reading.read(files, options: options, to: decoder, plan: plan, progress: progress) {}
        for complaint in reading.complaints { warn(complaint) }
        return (reading.hasFailed, reading.counters)
    }
}

/// What was written, as lines of JSON.
enum TableListing {
    /// A line for each file, each format and each connection that is not final, and one with the totals.
    static func lines(_ outcome: TableOutcome) -> [UInt8] {
        var lines: [UInt8] = []
        for file in outcome.files {
            line(
                [
                    ("table", .text(file.table.name)), ("file", .text(file.path)), ("rows", .number("\(file.rows)")),
                    ("bytes", .number("\(file.bytes)")),
                ], &lines)
        }
        for (name, heartbeat) in outcome.formats.sorted(by: { $0.key < $1.key }) {
            line([("format", .text(name)), ("heartbeat", .boolean(heartbeat))], &lines)
        }
        for live in outcome.live {
            line([("live", .text(live.ends)), ("opened", .text(live.opened.rfc3339))], &lines)
        }
        line(
            [("connections", .number("\(outcome.connections)")), ("frames", .number("\(outcome.frames)"))], &lines)
        return lines
    }

    private static func line(_ members: [(String, JSONValue)], _ lines: inout [UInt8]) {
        lines += JSONValue.object(members.map { JSONValue.Member($0.0, $0.1) }).compactText.utf8
        lines.append(UInt8(ascii: "\n"))
    }
}
