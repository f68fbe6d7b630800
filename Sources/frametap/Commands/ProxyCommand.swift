import ArgumentParser
import Pipeline
import Proxy
import Streams
import Trace

/// `frametap proxy`: stands between clients and their server.
struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Stand between a client and its server, and show what they say.",
        discussion: """
            Everything is forwarded first and decoded behind that: no client waits for the decoder, the disk or the terminal.

              frametap proxy --listen 127.0.0.1:8088 --to chat.example.com:8088 --write chat.pcapng
            """)

    @Option(help: ArgumentHelp("Where clients connect to; port 0 lets the system choose.", valueName: "address:port"))
    var listen: HostPort

    @Option(help: ArgumentHelp("The server.", valueName: "host:port"))
    var to: HostPort

    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var selection: SelectionOptions

    func run() throws {
        let queue = RecordingQueue()
        var decoding = try format.decodingOptions()
        try bodies.apply(to: &decoding)
        let recording = try ProxyRecording(
            queue: queue, source: "proxy \(listen) to \(to)", decoding: decoding, output: output,
            records: records, selection: selection)
        let proxy = ProxyServer(ProxyOptions(listen: listen, to: to), queue: queue)
        let address: HostPort
        do {
            address = try proxy.start()
        } catch {
            throw Trouble("cannot listen on \(listen): \(ProxyServer.cause(of: error))")
        }
        let signals = EndSignals {
            // The relay ends first, so that nothing passes that is not recorded.
            do { try proxy.shutDown() } catch { complain("\(error)") }
            queue.finish()
        }
        // Whoever reads this may send a signal at once.
        complain("listening on \(address)")
        if !address.isLoopback { complain("anybody who can reach \(address) can now connect to \(to) through it") }
        recording.run()
        signals.cancel()
    }
}

extension HostPort: ExpressibleByArgument {
    /// Reads `host:port`.
    public init?(argument: String) {
        self.init(argument)
    }
}

/// Where a proxy writes down what it relays.
struct RecordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Write what passes as a pcapng capture.", valueName: "file.pcapng"))
    var write: String?

    @Option(help: ArgumentHelp("Write the trace as NDJSON.", valueName: "file.ndjson"))
    var trace: String?
}
