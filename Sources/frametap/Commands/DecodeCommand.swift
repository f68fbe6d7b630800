import ArgumentParser
import Framing
import Packets
import Pipeline
import Platform
import Streams
import Trace

/// `frametap decode`: captures in, a trace out.
struct DecodeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "decode",
        abstract: "Decode captures.",
        discussion:
            "Reads pcap and pcapng; - is standard input, followed while it grows: tcpdump -w - | frametap decode -")

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    @Flag(help: "The files are bare bytes, each of one side of a connection, and not captures.")
    var raw = false

    @Option(help: ArgumentHelp("With --raw: who sent the bytes; by default, the client.", valueName: "side"))
    var from: Side?

    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup(title: "Reading less") var connections: ConnectionOptions
    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions
    @OptionGroup var threads: ThreadOptions

    func validate() throws {
        if raw, connections.isGiven || connections.folder != nil {
            throw ValidationError("--raw reads bare bytes; --connection-of, --host and --index are for captures")
        }
        if let from, !raw {
            throw ValidationError(
                "--from says who sent the bytes that --raw reads; to show what one side sent: --filter 'from == \(from.rawValue)'"
            )
        }
        if files.count(where: { $0 == "-" }) > 1 {
            throw ValidationError("- is given more than once; standard input can be read only once")
        }
        try OutputFiles.check(
            [("--output", output.output)], inputs: files + decryption.keyLog + format.files + bodies.files)
        try selection.failing.checkHazards(areSought: format.hazards)
    }

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        var options = try decodingOptions()
        options.tls = raw ? nil : try decryption.decoding()
        try selection.check(against: options)
        if output.output != nil { try OutputFiles.checkThere(files) }
        // What else there is to do when nobody reads the trace: a check, bodies, the summary of a step.
        let hasMore = selection.failing.isGiven || selection.extract != nil || output.form == .github
        let file = try output.open(keepsContent: true) { $0.endProcess(unless: hasMore) }
        let sink = output.sink(
            to: file, source: files.joined(separator: " "), isFile: files.count == 1 && files != ["-"],
            captures: raw ? [] : files, threads: threads, failing: selection.failing.checked)
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        // A file is read to its end, so that its summary is true, and --fail-on sees everything.
        let stops = !ParallelReading.suits(files) && !selection.failing.isGiven
        var sinks = try selection.apply(to: sink) {
            if stops { progress.isDone = true }
        } whenFailed: {
            progress.hasFailed = true
        }
        if !raw, file.keepsContent { sinks.append(OutputStart(file)) }
        let decoder = Decoder(options, sinks: sinks)
        var reassembly = reassembly.options(for: files)
        reassembly.serverPorts = options.serverPorts
        memory.apply(to: &reassembly)
        if raw { return try decodeRaw(options, to: decoder, file, progress) }
        let plan = try readingPlan()
        let (hasFailed, counters) = try read(with: reassembly, plan, to: decoder, progress)
        let isCut = progress.wasCutShort(files)
        counters.warnOfUnreadLinkTypes()
        try begin(file, unless: hasFailed && counters.packets == 0)
        // Of packets that belong to no connection, it would depend on the index which are read.
        decoder.finish(skipped: plan == nil ? counters.skippedByKind : counters.losses.skippedByKind)
        decoder.flush()
        selection.warnOfMissingConnections(decoder.summary)
        connections.warnOfNone(decoder.summary)
        try end(decoder, hasFailed: hasFailed || progress.hasFailed, isCut: isCut)
    }

    /// Empties the output, or ends the command, if nothing could be read and the file has something.
    private func begin(_ file: FileOutput, unless isUnreadable: Bool) throws {
        if isUnreadable, file.keepsContent { throw ExitCode(2) }
        file.begin()
    }

    /// Ends with the status of what was read.
    ///
    /// - Parameter isCut: whether a signal ended reading too early.
    private func end(_ decoder: Decoder, hasFailed: Bool, isCut: Bool) throws {
        if isCut { warn("interrupted: the trace has only what was read so far") }
        if hasFailed || isCut { throw ExitCode(2) }
        if selection.failing.fails(decoder.summary) { throw ExitCode(1) }
    }

    private func decodingOptions() throws -> DecodingOptions {
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        options.idleTimeout = reassembly.idleTimeout.interval
        memory.apply(to: &options, isReassembled: !raw)
        return options
    }

    /// What is read of the captures; nil: everything.
    private func readingPlan() throws -> ReadingPlan? {
        let times = try selection.selection()
        // Numbers of connections are those of all.
        let isByNumber = !selection.connections.isEmpty
        // A check counts what is not shown, too.
        let needsAll = isByNumber || selection.failing.isGiven
        return try connections.plan(
            for: files, since: needsAll ? nil : times.since, until: needsAll ? nil : times.until)
    }

    private func read(
        with options: ReassemblyOptions, _ plan: ReadingPlan?, to decoder: Decoder, _ progress: ReadingProgress
    ) throws -> (hasFailed: Bool, counters: CaptureCounters) {
        if !threads.isAlone, ParallelReading.suits(files) {
            // Hazards may depend on what several clients send at once.
            if plan == nil, output.showsOnlyCounts, !decoder.takesFrames, !self.format.hazards,
                let shares = SharedReading.shares(threads.shares, of: files, options: options)
            {
                var reading = SharedReading()
                let isRead = try reading.read(
                    files, shares, options: options, to: decoder,
                    {
                        var others = try decodingOptions()
                        others.tls = decoder.options.tls
                        return others
                    }, progress: progress)
                if isRead { return (reading.hasFailed, reading.counters) }
            }
            var reading = ParallelReading()
            reading.read(files, options: options, to: decoder, plan: plan, progress: progress) { decoder.flush() }
            return (reading.hasFailed, reading.counters)
        }
        var reading = CaptureReading()
        reading.isPaced = true
        reading.read(files, options: options, to: decoder, plan: plan, progress: progress) { decoder.flush() }
        for complaint in reading.complaints { warn(complaint) }
        return (reading.hasFailed, reading.counters)
    }

    private func decodeRaw(
        _ options: DecodingOptions, to decoder: Decoder, _ file: FileOutput, _ progress: ReadingProgress
    ) throws {
        var port: UInt16 = 0
        if case .fixed(let format) = options.choice { port = format.ports.first ?? 0 }
        var reading = RawReading(from: (from ?? .client).direction, serverPort: port)
        reading.read(files, to: decoder, progress: progress) {
            file.begin()
        } whenRead: {
            decoder.flush()
        }
        let isCut = progress.wasCutShort(files)
        try begin(file, unless: reading.hasFailed)
        decoder.finish()
        decoder.flush()
        selection.warnOfMissingConnections(decoder.summary)
        try end(decoder, hasFailed: reading.hasFailed || progress.hasFailed, isCut: isCut)
    }
}

extension CaptureCounters {
    /// Only what was lost before the packets were captured.
    var losses: CaptureCounters {
        var losses = self
        losses.keepLosses()
        return losses
    }
}
