import Analysis
import ArgumentParser
import Framing
import Packets
import Page
import Pipeline
import Platform
import Trace

/// `frametap report`: what went wrong on the connections of captures, and which side caused it.
struct ReportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Report what happened on each connection: timeline, round trips, findings.",
        discussion: """
              frametap report chat.pcapng
              frametap report chat.pcapng --as html --output chat.html
            """)

    /// The forms of a report.
    enum Form: String, ExpressibleByArgument, CaseIterable {
        case text, json, html
    }

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(name: .customLong("as"), help: "What to write: \(Form.allValueStrings.joined(separator: ", ")).")
    var form = Form.text

    @Option(
        help: ArgumentHelp("Write to this file instead of standard output.", valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup var failing: FailOptions
    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions

    func validate() throws {
        try OutputFiles.check(
            [("--output", output)], inputs: files + decryption.keyLog + format.files + bodies.files)
        try failing.checkHazards(areSought: format.hazards)
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        options.tls = try decryption.decoding()
        options.idleTimeout = reassembly.idleTimeout.interval
        memory.apply(to: &options)
        if output != nil { try OutputFiles.checkThere(files) }
        let file = try output.map { try FileOutput(creating: $0, keepsContent: true) } ?? FileOutput.standardOutput()
        file.whenBroken = { $0.endProcess(unless: failing.isGiven) }
        let collector = ReportCollector()
        let source = files.joined(separator: " ")
        let recording = form == .html ? try PageRecording(source: source, tool: Frametap.tool) : nil
        let decoder = Decoder(
            options,
            analyses: Decoder.allAnalyses(
                replacing: collector.analyses { recording?.sink.take($0) }
                    + options.extraAnalyses().filter { $0 is HazardFinder }),
            sinks: [collector] + (recording.map { [$0.sink] } ?? []))
        var reassembly = reassembly.options(for: files)
        reassembly.serverPorts = options.serverPorts
        memory.apply(to: &reassembly)
        reassembly.notices = decoder.wantsPackets
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        var reading = CaptureReading()
        reading.read(files, options: reassembly, to: decoder, progress: progress) {}
        let isCut = progress.wasCutShort(files)
        for complaint in reading.complaints { warn(complaint) }
        reading.counters.warnOfUnreadLinkTypes()
        // If nothing could be read, the absence of findings means nothing.
        if reading.hasFailed, reading.counters.packets == 0 { throw ExitCode(2) }
        file.begin()
        decoder.finish(skipped: reading.counters.skippedByKind)
        let report = collector.report(source: source)
        switch form {
        case .text:
            let lines = ReportText.lines(report, columns: file.terminalColumns ?? 120)
            file.write(Array(lines.joined(separator: "\n").utf8) + [UInt8(ascii: "\n")])
        case .json: file.write(ReportJSON.bytes(report, tool: Frametap.tool))
        case .html: file.write(recording?.file(report: ReportJSON.bytes(report, tool: Frametap.tool)) ?? [])
        }
        if isCut { warn("interrupted: the report has only what was read so far") }
        if reading.hasFailed || isCut { throw ExitCode(2) }
        if failing.fails(decoder.summary) { throw ExitCode(1) }
    }
}
