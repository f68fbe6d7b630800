import ArgumentParser
import Framing
import Peers
import Pipeline
import Proxy
import Streams
import Synchronization
import Systems
import Trace

/// `frametap demo`: reference peers communicate through the proxy.
struct DemoCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch a real conversation pass through the proxy; nothing to set up.",
        discussion: "A reference server, the proxy and reference clients run on loopback: real sockets, real frames.")

    @Argument(help: "The formats to show; default: all.", completion: PeerCommandOptions.formats)
    var formats: [String] = []

    @Flag(help: "Let the peers speak TLS, which the proxy intercepts.")
    var tls = false

    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var status: StatusOptions

    func validate() throws {
        try records.check(output, inputs: bodies.files)
        try selection.failing.checkHazards(areSought: nil)
    }

    func run() throws {
        let peers = try formats.isEmpty ? ReferencePeers.all : formats.map(PeerCommandOptions.peer)
        let queue = RecordingQueue()
        var decoding = DecodingOptions(
            .automatic(
                try BuiltInFormats.all().map { format in
                    format.scalingHeartbeat(by: ReferencePeers.peer(for: format.name)?.demoScale ?? 1)
                }))
        // Formats that cannot be recognised by their bytes must be requested, once their servers' ports are known.
        let ports = PortFormats()
        decoding.lateByPort = { ports[$0] }
        try bodies.apply(to: &decoding)
        var unmarked: [Format] = []
        if case .automatic(let all) = decoding.choice { unmarked = all.filter { $0.detection == nil } }
        let request = LiveRecording.Request(
            decoding: decoding, output: output, records: records, selection: selection, status: status)
        let recording = try LiveRecording(of: .relay("demo"), request)
        let recorder = Recorder(of: recording, queue: queue)
        let tls = try tls ? DemoTLS() : nil
        recording.begin()
        let conversations = Task<Bool, Never>.detached { [unmarked] in
            defer { queue.finish() }
            var isComplete = true
            for peer in peers where !Task.isCancelled {
                let format = unmarked.first { $0.name == peer.format }
                let isShown = await Self.show(peer, tls, queue: queue) { ports[$0] = format }
                isComplete = isComplete && isShown
            }
            return isComplete
        }
        let signals = EndSignals { conversations.cancel() }
        // The main thread records; conversations run on the tasks' shared threads.
        recording.run(recorder, queue)
        recording.warnOfDiscarded()
        signals.cancel()
        // Everything that could be shown was, and is in the records.
        guard try Blocking.wait({ await conversations.value }) else { throw ExitCode(2) }
        if selection.failing.fails(recording.summary) { throw ExitCode(1) }
    }

    /// Server, proxy and clients of one format, until the clients are done.
    ///
    /// - Parameters:
    ///   - tls: puts TLS on both sides of the proxy; nil: the peers speak plaintext.
    ///   - bound: called with the server's port, before anyone connects to it.
    /// - Returns: whether it went well, or was interrupted.
    private static func show(
        _ peer: any ReferencePeer.Type, _ tls: DemoTLS?, queue: RecordingQueue, bound announcePort: (UInt16) -> Void
    ) async -> Bool {
        var options = PeerOptions()
        options.timeScale = peer.demoScale
        let scaled = options
        let (bound, announce) = AsyncStream.makeStream(of: Endpoint.self)
        let serving = Task {
            defer { announce.finish() }
            try await peer.serve(
                at: PeerAddress(host: "127.0.0.1", port: 0), options: scaled, bound: { announce.yield($0) },
                log: { _ in })
        }
        defer { serving.cancel() }
        do {
            var addresses = bound.makeAsyncIterator()
            guard let server = await addresses.next() else {
                try await serving.value
                throw CancellationError()
            }
            let plain = HostPort(host: server.address.description, port: Int(server.port))
            let outer = try await tls?.serve(plain)
            let to = outer?.address ?? plain
            announcePort(UInt16(truncatingIfNeeded: to.port))
            var settings = ProxyOptions(listen: HostPort(host: "127.0.0.1", port: 0), to: to)
            if let tls { settings.tls = tls.interception }
            let proxy = ProxyServer(settings, queue: queue)
            guard case .tcp(let listening)? = try await proxy.startListening().first else {
                throw CommandError("the proxy listens on no port")
            }
            let inner = try await tls?.connect(to: listening)
            let address = inner?.address ?? listening
            let outcome: Result<Void, any Error>
            do {
                let through = PeerAddress(host: address.host, port: address.port)
                outcome = .success(try await peer.demonstrate(to: through, options: scaled, log: { _ in }))
            } catch {
                outcome = .failure(error)
            }
            // The clients have said goodbye; their connections end when the server has answered.
            _ = try await proxy.drained(within: 1)
            for part in [inner?.proxy, proxy, outer?.proxy].compactMap({ $0 }) { try await part.close() }
            try outcome.get()
            return true
        } catch is CancellationError {
            return true
        } catch {
            warn("the \(peer.format) demonstration went wrong: \(error)")
            // What is interrupted may fail in other ways, too.
            return Task.isCancelled
        }
    }
}

/// The formats of server ports, added while connections arrive.
private final class PortFormats: Sendable {
    private let formats = Mutex<[UInt16: Format]>([:])

    subscript(port: UInt16) -> Format? {
        get { formats.withLock { $0[port] } }
        set { formats.withLock { $0[port] = newValue } }
    }
}
