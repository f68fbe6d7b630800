import ArgumentParser
import Control
import Dispatch
import Framing
import Page
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// `frametap proxy`: stands between clients and their server.
struct ProxyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "proxy",
        abstract: "Stand between a client and its server, and show what they say.",
        discussion: """
            Everything is forwarded first and decoded afterwards: no client waits for the decoder, the disk or the terminal.

              frametap proxy --listen 127.0.0.1:8088 --to chat.example.com:8088 --write chat.pcapng
              frametap proxy --listen socks5://127.0.0.1:1080 --format 8088=im-json
            """)

    @OptionGroup var listeners: ListenerOptions
    @OptionGroup var relay: RelayOptions
    @OptionGroup(title: "TLS") var tls: InterceptionOptions
    @OptionGroup(title: "Rules") var rules: RuleOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var waiting: QueueOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var status: StatusOptions
    @OptionGroup(title: "Page") var page: PageOptions
    @OptionGroup(title: "Memory") var memory: MemoryOptions

    func validate() throws {
        try records.check(
            output, ciphertext: tls.writeTLS, [("--key-log", tls.keyLog)],
            inputs: format.files + bodies.files + tls.files + [rules.file].compactMap { $0 })
        try selection.failing.checkHazards(areSought: format.hazards)
        if rules.seed != nil, !rules.isGiven, listeners.control == nil {
            throw ValidationError("--seed needs --rule, --rules or --control")
        }
    }

    func run() throws {
        // Not in `validate`, whose error would hide that of an unknown option.
        if listeners.listen.isEmpty, listeners.control == nil {
            throw ValidationError(
                """
                nothing to listen on; expected --listen ADDRESS:PORT --to HOST:PORT, --listen socks5://ADDRESS:PORT, \
                --listen transparent://ADDRESS:PORT or --control ADDRESS:PORT
                """)
        }
        // Survives the terminal that started it and readers that are gone, and treats a file size limit like a full disk.
        for number in [SIGHUP, SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        DescriptorLimit.raise()
        let listeners = try listeners.listeners()
        var options = relay.options(listeners)
        let keyLog = try tls.keyLogFile()
        options.tls = try tls.options(keyLog)
        options.tls.handshakeTimeout = options.connectTimeout
        let queue = waiting.queue()
        var decoding = try format.decodingOptions()
        try bodies.apply(to: &decoding)
        memory.apply(to: &decoding, isReassembled: false)
        try selection.check(against: decoding)
        // Which format a connection has must be known before its first byte.
        if case .fixed(let format) = decoding.choice, format.upgrade != nil { options.tls.upgrading = format }
        let page = try page.output(isLive: true)
        let store = try rules.store(decoding, isCommanded: page != nil && self.page.webActions)
        if let store, rules.isGiven {
            options.stages = { store.stages(of: $0, to: $1) }
            warn("rules apply; seed \(store.seed)")
            store.watch()
        }
        let pageControl = page != nil && self.page.webActions ? store.map { PageControl($0) } : nil
        let journal = self.listeners.control == nil ? nil : EventJournal()
        let packets = PacketJournal()
        var request = LiveRecording.Request(
            decoding: decoding, output: output, records: records, selection: selection, status: status)
        let applied = AppliedRules()
        if rules.isGiven { request.sinks.append(applied) }
        if let journal {
            request.sinks.append(
                EventSink(
                    source: "control", tool: Frametap.tool, bodyLimit: output.bodyLimit,
                    whenFlushed: { journal.publish() }
                ) {
                    journal.take($0)
                })
            request.journal = packets
        }
        if let page { (request.page, request.journal) = (page, packets) }
        let sealed = tls.writeTLS.map { (path: $0, queue: RecordingQueue(limit: waiting.queueLimit.bytes)) }
        let proxy = ProxyServer(
            options, queue: queue, ciphertext: sealed?.queue, threads: relay.threads ?? ProxyServer.usualThreads)
        let places: [Place]
        do {
            places = try proxy.start(managing: pageControl.map { control in { control.handle(of: $0) } })
        } catch {
            throw CommandError("\(error)")
        }
        let seed = store?.seed ?? rules.seed ?? .random(in: 0...UInt64(UInt32.max))
        let token = self.listeners.controlToken ?? Self.token()
        let api = FrametapAPI(
            proxy, journal ?? EventJournal(), packets, seed: seed, limits: rules.limits, tool: Frametap.tool
        ) {
            try FormatOptions.format($0)
        }
        var (control, server): (ControlServer?, PageServer?) = (nil, nil)
        defer {
            server?.close()
            control?.close()
        }
        // The files come last: those of earlier runs stay whole if it cannot listen. Queues keep what passes meanwhile.
        let recording: LiveRecording
        let ciphertext: CiphertextRecord?
        do {
            control = try startControl(of: proxy, api, seed: seed, token: token)
            let actions = try page.flatMap { try pageControl?.actions(on: api, places, $0.page) }
            server = try page?.start(actions: actions, packets: packets)
            if let server { proxy.protect(server.place) }
            recording = try LiveRecording(of: .relay(ListenerOptions.source(of: listeners)), request)
            ciphertext = try sealed.map {
                try CiphertextRecord($0.path, as: records, from: $0.queue, start: request.start)
            }
        } catch {
            // Or the files of Unix sockets would stay.
            try? proxy.shutDown()
            throw error
        }
        recording.begin()
        ciphertext?.begin()
        let recorder = Recorder(of: recording, queue: queue)
        let drain = relay.drain.interval.seconds
        let signals = EndSignals {
            if drain > 0 {
                proxy.stopListening()
                warn("waiting up to \(drain) s for open connections to end; a second signal ends at once")
                _ = try? proxy.drain(within: drain)
            }
            EndDeadline.set()
            // The relay ends first, so that nothing passes unrecorded.
            do { try proxy.shutDown() } catch { warn("\(error)") }
            queue.finish()
        }
        // A program that reads this may send a signal immediately.
        for (listener, place) in zip(listeners, places) { Self.announce(listener, at: place) }
        if let control { announce(control, token: token) }
        if let server { PageOutput.announce(server, acts: pageControl != nil) }
        recording.run(recorder, queue)
        journal?.finish()
        ciphertext?.finish()
        keyLog?.finish()
        if let lost = ciphertext?.queue.losses, lost.dropped.bytes > 0 || lost.unrecorded > 0 {
            warn("--write-tls is not complete: dropped \(lost.dropped.bytes) bytes, \(lost.unrecorded) connections")
        }
        recording.warnOfDiscarded()
        signals.cancel()
        for line in QueueOptions.lines(queue.losses, late: recorder.late) { warn(line) }
        if proxy.refused > 0 { warn("refused clients beyond the limit of connections: \(proxy.refused)") }
        // Of what was not recorded, it is not known what was done to it.
        let isWhole = queue.losses.dropped.bytes == 0 && queue.losses.unrecorded == 0
        if rules.isGiven, isWhole, let store, recording.summary.formats.values.contains(where: { $0.bytes.frames > 0 })
        {
            applied.warnOfOthers(store.rules)
        }
        selection.warnOfMissingConnections(recording.summary)
        if selection.failing.fails(recording.summary) { throw ExitCode(1) }
    }

    /// Starts the control API, if it is asked for, without printing where.
    private func startControl(
        of proxy: ProxyServer, _ api: FrametapAPI, seed: UInt64, token: String
    ) throws -> ControlServer? {
        guard let address = listeners.control else { return nil }
        let api = ControlAPI(proxy, api, seed: seed, limits: rules.limits, token: token)
        do {
            let server = try Blocking.wait { try await api.serve(at: address) }
            proxy.protect(HostPort(host: server.host, port: server.port))
            return server
        } catch {
            throw CommandError("\(error)")
        }
    }

    private func announce(_ control: ControlServer, token: String) {
        let place = HostPort(host: control.host, port: control.port)
        let shown = listeners.controlToken == nil ? "; token \(token)" : ""
        warn("control on http://\(place)\(shown)")
        if !place.isLoopback { warn("anybody who can reach \(place) can now control this proxy") }
    }

    /// 128 random bits.
    private static func token() -> String {
        var generator = SystemRandomNumberGenerator()
        return Hexadecimal.text((0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    private static func announce(_ listener: Listener, at place: Place) {
        let (kind, servers) =
            switch listener.server {
            case .fixed(let server): ("", "\(server)")
            case .chosen(let choice): (" (\(choice.title))", choice.reach)
            }
        warn("listening on \(place)\(kind)")
        if !place.isLoopback { warn("anybody who can reach \(place) can now connect to \(servers) through it") }
    }
}
