import ArgumentParser
import Dispatch
import Packets
import Page
import Pipeline
import Platform
import Proxy
import Trace

/// `frametap view`: captures or traces in a browser.
struct ViewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "view",
        abstract: "Show captures or traces in a web browser.",
        discussion: """
            Prints the page's address, opens it, and serves it until it is interrupted.

              frametap view chat.pcapng
            """)

    @Argument(help: ArgumentHelp("Captures, or traces (NDJSON).", valueName: "file"))
    var files: [String]

    @Option(help: ArgumentHelp("Where the page is served. Port 0 lets the system choose.", valueName: "address:port"))
    var web = HostPort(host: "127.0.0.1", port: 0)

    @Flag(inversion: .prefixedNo, help: "Open the page in the browser, if there is a screen.")
    var open = true

    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let kind = try TraceLoading.kind(of: files)
        // Before there is a page: what is wrong with an option is said, and nothing served.
        let options = try kind == .lines ? nil : decodingOptions()
        let output = try PageOutput(at: web, isLive: false)
        let progress = ReadingProgress()
        let done = DispatchSemaphore(value: 0)
        let page = output.page
        let signals = EndSignals {
            progress.isDone = true
            page.end()
            done.signal()
        }
        defer { signals.cancel() }
        let server = try output.serve()
        defer { server.close() }
        let leading = open && Browser.isThere ? Browser.open(secret: server.address) : nil
        defer { if let leading { Browser.remove(leading) } }
        var isComplete = true
        do {
            if let options {
                isComplete = decode(options, to: output, progress)
            } else {
                try read(to: page, progress)
            }
        } catch {
            // What could be read is shown.
            warn("\(error)")
            isComplete = false
        }
        page.queue.put(PageItem(.end))
        done.wait()
        if !isComplete { throw ExitCode(2) }
    }

    private func read(to page: Page, _ progress: ReadingProgress) throws {
        var reader = EventReader()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        for path in files where !progress.isOver {
            try reader.begin(path)
            let input = try FileInput(path, progress)
            defer { input.closeFile() }
            while !progress.isOver {
                let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
                if count == 0 { break }
                for (event, _) in try reader.read(chunk.span.bytes.extracting(0..<count)) {
                    page.queue.put(PageItem(.event(event)))
                }
            }
        }
        try reader.finish()
        for note in reader.notes { warn(note) }
    }

    private func decodingOptions() throws -> DecodingOptions {
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        options.tls = try decryption.decoding()
        options.idleTimeout = reassembly.idleTimeout.interval
        memory.apply(to: &options)
        return options
    }

    /// - Returns: whether all could be read.
    private func decode(_ options: DecodingOptions, to output: PageOutput, _ progress: ReadingProgress) -> Bool {
        let sink = output.sink(source: files.joined(separator: " "), hasPackets: true, makesReport: true)
        let decoder = Decoder(
            options, analyses: Decoder.allAnalyses(replacing: options.extraAnalyses() + sink.analyses()), sinks: [sink])
        var reassembly = reassembly.options(for: files)
        reassembly.serverPorts = options.serverPorts
        memory.apply(to: &reassembly)
        reassembly.notices = decoder.wantsPackets
        var reading = CaptureReading()
        reading.read(files, options: reassembly, to: decoder, progress: progress) {}
        decoder.finish(skipped: reading.counters.skippedByKind)
        for complaint in reading.complaints { warn(complaint) }
        reading.counters.warnOfUnreadLinkTypes()
        return !reading.hasFailed
    }
}
