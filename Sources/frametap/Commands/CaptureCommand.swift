import ArgumentParser
import LiveCapture
import Packets
import Page
import Pipeline
import Platform
import Proxy
import Streams
import Trace

/// `frametap capture`: the packets of an interface in, a trace out, live.
struct CaptureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "capture",
        abstract: "Decode the traffic of a network interface.",
        discussion: """
            SIGINT and SIGTERM shut it down cleanly. Capturing needs a permission; where it is lacking, the command that gives it is shown.

              frametap capture any --bpf 'tcp port 8088' --write chat.pcapng
            """)

    @Argument(help: "The interface, such as lo or eth0; any is all of them (Linux).")
    var interface: String?

    @Flag(help: "List the interfaces, with their addresses, and end.")
    var listInterfaces = false

    @OptionGroup(title: "Capturing") var live: LiveOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var records: RecordOptions
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var status: StatusOptions
    @Option(
        help: ArgumentHelp(
            "Serve a web page that shows the traffic (docs/page.md), and print its address. Port 0 lets the system choose.",
            valueName: "address:port"))
    var web: HostPort?

    @OptionGroup(title: "Decryption") var decryption: DecryptionOptions
    @OptionGroup(title: "Reassembly") var reassembly: ReassemblyArguments
    @OptionGroup(title: "Memory") var memory: MemoryOptions

    func validate() throws {
        if interface == nil, !listInterfaces {
            throw ValidationError("expected an interface, such as any; --list-interfaces lists them")
        }
        try records.check(output, inputs: decryption.keyLog + format.files + bodies.files)
        try selection.failing.checkHazards(areSought: format.hazards)
    }

    func run() throws {
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        guard let interface, !listInterfaces else { return try InterfaceListing.write() }
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        options.tls = try decryption.decoding(isFollowed: true)
        options.idleTimeout = reassembly.idleTimeout.interval
        memory.apply(to: &options)
        try selection.check(against: options)
        var capture = try live.open(interface)
        let progress = ReadingProgress()
        let captured = CaptureRecord.Interface(
            name: capture.interface, linkType: capture.linkType, snapLength: live.snaplen.bytes, filter: live.bpf)
        var request = LiveRecording.Request(
            decoding: options, output: output, records: records, selection: selection, status: status)
        let page = try web.map { try PageOutput(at: $0, isLive: true) }
        request.page = page
        // Before the files: those of earlier runs stay whole if it cannot listen.
        let server = try page?.start()
        defer { server?.close() }
        let recording = try LiveRecording(of: .capture(captured), request) { progress.isDone = true }
        recording.begin()
        var reassembly = reassembly.options(for: [])
        reassembly.serverPorts = options.serverPorts
        memory.apply(to: &reassembly)
        if page != nil { reassembly.notices = recording.decoder.wantsPackets }
        var reading = LiveReading(recording, options: reassembly)
        let signals = EndSignals {
            EndDeadline.set()
            LiveReading.stop()
        }
        if let server { PageOutput.announce(server) }
        warn("capturing on \(interface)\(live.bpf.map { ", only \($0)" } ?? "")")
        reading.run(&capture, until: progress)
        recording.warnOfDiscarded()
        signals.cancel()
        if reading.hasFailed { throw ExitCode(2) }
        selection.warnOfMissingConnections(recording.summary)
        if selection.failing.fails(recording.summary) { throw ExitCode(1) }
    }
}

/// How packets are captured.
struct LiveOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Capture only packets that match this libpcap filter: 'tcp port 8088'.", valueName: "expression"))
    var bpf: String?

    @Option(help: ArgumentHelp("Capture at most N bytes of each packet.", valueName: "size"))
    var snaplen = ByteAmount(bytes: 256 << 10)

    @Option(
        help: ArgumentHelp(
            "The kernel's capture buffer; packets beyond it are dropped while frametap is busy.", valueName: "size"))
    var buffer = ByteAmount(bytes: 16 << 20)

    @Flag(inversion: .prefixedNo, help: "Also capture packets addressed to other hosts (promiscuous mode).")
    var promiscuous = true

    func validate() throws {
        if !(64...(256 << 10)).contains(snaplen.bytes) {
            throw ValidationError("--snaplen is \(snaplen.bytes); expected 64 to 262144 bytes")
        }
        // With less, the ring has a single block, and everything is lost while that is being read.
        if !((1 << 20)...(1 << 30)).contains(buffer.bytes) {
            throw ValidationError("--buffer is \(buffer.bytes); expected 1MiB to 1GiB")
        }
    }

    /// Starts capturing; errors are reported with a remedy.
    func open(_ interface: String) throws -> LiveCapture {
        var options = LiveCaptureOptions()
        options.filter = bpf
        options.snapLength = snaplen.bytes
        options.bufferSize = buffer.bytes
        options.isPromiscuous = promiscuous
        do throws(LiveCaptureError) {
            let capture = try LiveCapture(interface, options: options)
            if let warning = capture.warning { warn("capturing on \(interface): \(warning)") }
            return capture
        } catch {
            switch error.kind {
            case .badFilter:
                throw ValidationError(
                    "--bpf '\(bpf ?? "")': \(error.message); expected a filter as tcpdump takes it, such as 'tcp port 8088' or 'host 10.0.0.2 and tcp' (man pcap-filter)"
                )
            case .notPermitted: throw CommandError("\(error.message)\n\(CapturePermission.advice)")
            case .noSuchInterface:
                let known = ((try? NetworkInterface.all()) ?? []).map(\.name).joined(separator: ", ")
                throw CommandError("there is no interface \(interface)\(known.isEmpty ? "" : "; there are \(known)")")
            case .noLibrary, .failed: throw CommandError(error.message)
            }
        }
    }
}
