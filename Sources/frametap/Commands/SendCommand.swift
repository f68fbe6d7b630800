import Analysis
import ArgumentParser
import Control
import Framing
import Pipeline
import Platform
import Proxy
import Replay
import Streams
import Trace

/// `frametap send`: frames to a server, written by hand.
struct SendCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "send",
        abstract: "Send frames to a server, or into a connection through a proxy, and show the answers.",
        discussion: """
            Each frame is a line of JSON, as an argument or on standard input, as traces have them; lengths, counts and checksums \
            are filled in. Of a trace, the client's frames are sent. ${NAME} stands for a value of an earlier answer.

              frametap send --to 127.0.0.1:8088 --format im-json '{"fields":{"type":"login"}}' '{"fields":{"token":"${token}"}}'
              frametap send --to 127.0.0.1:5288 --format tlv32 --vary fields.total=0,1,65535 '{"body":{"text":"Hello"}}'
              frametap send --control 127.0.0.1:8474 --token T --listener chat --connection 3 --format line '{"body":{"text":"Hi"}}'
            """)

    @Argument(help: "Frames; without any, they are read from standard input.")
    var frames: [String] = []

    @Option(help: ArgumentHelp("The server.", valueName: "host:port"))
    var to: HostPort?

    @Option(help: ArgumentHelp("Send through a proxy's control API instead of connecting.", valueName: "host:port"))
    var control: HostPort?

    @Option(help: ArgumentHelp("With --control: the token that the proxy printed.", valueName: "text"))
    var token: String?

    @Option(help: ArgumentHelp("With --control: the listener at which the connection came.", valueName: "name"))
    var listener: String?

    @Option(help: ArgumentHelp("With --control: the connection's number.", valueName: "n"))
    var connection: Int?

    @Option(help: ArgumentHelp("With --control: the side in whose name frames are sent.", valueName: "side"))
    var from = Side.client

    @Option(help: "The format: a built-in one's name, or a format file.", completion: .file())
    var format: String

    @Option(help: ArgumentHelp("How long to wait for an answer to each frame.", valueName: "time"))
    var timeout = TimeAmount(seconds: 2)

    @Option(
        help: ArgumentHelp(
            "Send everything once for each of these values, on a connection of its own; in the last frame, a field is overwritten and "
                + "nothing recomputed, and a body replaced.", valueName: "path=value,…"))
    var vary: String?

    @OptionGroup var bodies: BodyOptions
    @OptionGroup var output: OutputOptions

    /// The ways of printing answers that a proxy's API has no data for, and whether they are asked for.
    private var unprintable: [(option: String, isGiven: Bool)] {
        [
            (
                "--as \(output.form.rawValue)",
                output.form != .text && output.form != .ndjson && output.form != .none
            ),
            ("--body-limit", output.bodyLimit != OutputOptions.usualBodyLimit), ("--time", output.times != .utc),
            ("--verbose", output.verbose), ("--color", output.color != .auto),
        ]
    }

    func validate() throws {
        if (to == nil) == (control == nil) { throw ValidationError("expected --to, or --control") }
        if control != nil, token == nil || listener == nil || connection == nil {
            throw ValidationError("--control needs --token, --listener and --connection")
        }
        if control == nil, token != nil || listener != nil || connection != nil || from != .client {
            throw ValidationError("--token, --listener, --connection and --from need --control")
        }
        if timeout.interval.nanoseconds <= 0 { throw ValidationError("--timeout: expected more than 0, such as 500ms") }
        if let vary, FrameVariations(vary) == nil {
            throw ValidationError("--vary \(vary): expected fields.NAME=VALUE,… or body.text=VALUE,…")
        }
        try OutputFiles.check(
            [("--output", output.output)],
            inputs: (frames.isEmpty ? ["-"] : []) + FormatOptions.files(in: [format]) + bodies.files)
    }

    func run() async throws {
        // Not in `validate`, whose error would hide that of an unknown option.
        if control != nil, let other = unprintable.first(where: { $0.isGiven }) {
            throw ValidationError(
                "\(other.option) cannot be used with --control: answers are printed as lines of a trace, or not at all (--as none)"
            )
        }
        signal(SIGPIPE, SIG_IGN)
        var decoding = DecodingOptions(.fixed(try FormatOptions.format(format)))
        try bodies.apply(to: &decoding)
        guard case .fixed(let format) = decoding.choice else { return }
        let frames = try framesToSend(format)
        if let control { return try await send(frames, by: control) }
        if let to { try await send(frames, to: to, decoding) }
    }

    /// The frames of the arguments, or of standard input.
    private func framesToSend(_ format: Format) throws -> FramesToSend {
        var lines = frames
        if lines.isEmpty {
            try LineInput(FileInput("-")).forEach { line in
                lines.append(
                    String(decoding: Array(0..<line.byteCount).map { line[unchecked: $0] }, as: UTF8.self))
            }
        }
        do {
            let frames = try FramesToSend(lines, format, from: from.direction, varying: variations)
            if let note = frames.note { warn(note) }
            guard frames.count > 0 else {
                throw CommandError(
                    #"no frames to send; expected lines of JSON, such as {"fields":{},"body":{"text":"Hi"}}"#)
            }
            try frames.check()
            return frames
        } catch let error as ReplayError {
            throw CommandError(error.description)
        } catch let error as EncodingError {
            throw CommandError(error.description)
        }
    }

    private var variations: FrameVariations? { vary.flatMap { FrameVariations($0) } }

    /// The values of `--vary`; one that is nil without it.
    private var values: [JSONValue?] { variations?.values.map(Optional.some) ?? [nil] }

    /// All analyses. Heartbeats of the side that sends are not missed: it sends the given frames, and nothing else.
    private static func analyses(for decoding: DecodingOptions) -> [any Analysis] {
        let all = Decoder.allAnalyses(replacing: decoding.extraAnalyses())
        guard case .fixed(let format) = decoding.choice, format.heartbeat?.from == .fromClient else { return all }
        return all.filter { !($0 is HeartbeatMonitor) }
    }

    /// Sends to a server, for each value on a connection of its own.
    private func send(_ frames: FramesToSend, to: HostPort, _ decoding: DecodingOptions) async throws {
        let answers = TraceReading(of: "\(to)")
        // Faults are what fails the command: no finding is called so.
        let faults = CheckedKinds([SentFrames.Fault.notSent])
        let file = try output.open(keepsContent: true) { $0.endProcess(unless: true) }
        let sink = output.sink(to: file, source: "send to \(to)", failing: faults)
        let checks = sink as? CheckWriter
        let decoder = Decoder(
            decoding, analyses: Self.analyses(for: decoding), sinks: [sink].compactMap { $0 })
        // What is sent again must not be redacted, what is shown must.
        var revealing = decoding
        try revealing.replaceFormats { format in
            var format = format
            format.secrets = []
            return format
        }
        let reader = Decoder(
            revealing, analyses: [], sinks: [answers.sink(tool: Frametap.tool, bodyLimit: .max)])
        var sent = SentFrames(isVaried: variations != nil)
        /// The number of the last connection.
        var opened = 0
        // What was said is shown, however it ends.
        defer {
            if opened > 0 {
                for decoder in [decoder, reader] {
                    decoder.finish()
                    decoder.flush()
                }
            }
        }
        for (place, value) in values.enumerated() {
            let (number, name) = (place + 1, "connection \(place + 1)")
            if let variations, let value { warn("\(name): \(variations.path) is \(value.compactText)") }
            do {
                let sending = try await DirectSending(
                    number: number, to: to, timeout: timeout.interval, [decoder, reader], answers)
                // Without a connection, there is nothing to write in place of what the file has.
                file.begin()
                opened = number
                defer { sending.close() }
                try await sent.send(frames, with: value, over: sending, name: name) { fault in
                    checks?.failed(fault.kind, fault.text, on: number, at: WallClock.now())
                }
            } catch {
                let message =
                    (error as? ReplayError)?.description ?? (error as? EncodingError)?.description
                    ?? "cannot talk to \(to): \(connectionCause(of: error))"
                // If the server does not accept another connection, it is the last one that it may not have survived.
                checks?.failed(SentFrames.Fault.notSent, message, on: opened, at: WallClock.now())
                throw CommandError(message)
            }
        }
        try sent.check()
    }

    /// Sends into a connection that passes through a proxy.
    private func send(_ frames: FramesToSend, by control: HostPort) async throws {
        let file = try output.open(keepsContent: true) { $0.endProcess(unless: true) }
        let isShown = output.form != .none
        var sent = SentFrames(isVaried: variations != nil)
        do {
            let sending = try await ControlledSending(
                ControlClient(control, token: token ?? ""), listener: listener ?? "", connection: connection ?? 0,
                from: from.direction, timeout: timeout.interval
            ) { line in
                file.begin()
                if isShown { file.write(Array((line + "\n").utf8)) }
            }
            for value in values {
                if let variations, let value { warn("\(variations.path) is \(value.compactText)") }
                try await sent.send(frames, with: value, over: sending, name: nil) { _ in }
            }
            file.begin()
        } catch let error as EncodingError {
            throw CommandError(error.description)
        } catch let error as ReplayError {
            throw CommandError(error.description)
        } catch let error as ControlClient.Failure {
            throw CommandError(error.description)
        }
        try sent.check()
    }
}
