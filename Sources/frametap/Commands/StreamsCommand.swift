import ArgumentParser
import Crypto
import Framing
import Packets
import Pipeline
import Platform
import Streams
import Trace

/// `frametap streams`: the reassembled byte streams of captures.
struct StreamsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Reassemble the TCP streams of captures: a line of JSON for each connection.")

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Also write each stream's bytes to a file in this folder: NNNN-client.bin, NNNN-server.bin.",
            valueName: "folder"), completion: .directory)
    var directory: String?

    @Flag(help: "With --directory: write zeros for bytes that are missing, instead of leaving them out.")
    var fillMissing = false

    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions

    func validate() throws {
        if fillMissing, directory == nil { throw ValidationError("--fill-missing needs --directory") }
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        let streams = try directory.map { try StreamFiles(in: $0, fillsMissing: fillMissing) }
        output.whenBroken = {
            // Without the listing's reader, the files are still written; otherwise, what was gathered for them is.
            if !$0.isBrokenPipe { streams?.flush() }
            $0.endProcess(unless: streams != nil)
        }
        let listing = StreamListing(output: output, files: streams)
        var options = reassembly.options(for: files)
        options.conflictHistory = 0  // not needed
        // Nothing is framed here, so reassembly gets the whole limit.
        options.totalReorderingLimit = memory.memoryLimit.bytes
        options.serverPorts = Set(BuiltInFormats.outlines.systems.flatMap(\.ports))
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        var reading = CaptureReading()
        let decrypting = try decryption.decoding().map { DecryptedStreams($0, to: listing) }
        reading.read(files, options: options, to: decrypting ?? listing, progress: progress) {
            streams?.flush()
        }
        let isCut = progress.wasCutShort(files)
        listing.finish()
        streams?.flush()
        for complaint in reading.complaints { warn(complaint) }
        reading.counters.warnOfUnreadLinkTypes()
        if let skipped = SummaryText.skipped(reading.counters.skippedByKind) { warn(skipped) }
        if isCut { warn("interrupted: the streams have only what was read so far") }
        if reading.hasFailed || streams?.hasFailed == true || isCut { throw ExitCode(2) }
    }
}
