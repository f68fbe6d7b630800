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
            are filled in. ${NAME} stands for a value of an earlier answer.

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
        if let vary, FrameVariations(vary) == nil {
            throw ValidationError("--vary \(vary): expected fields.NAME=VALUE,… or body.text=VALUE,…")
        }
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
        var lines = frames
        if lines.isEmpty {
            try LineInput(FileInput("-")).forEach { line in
                let text = String(decoding: Array(0..<line.byteCount).map { line[unchecked: $0] }, as: UTF8.self)
                if !text.isEmpty { lines.append(text) }
            }
        }
        let templates = try lines.map { line in
            do { return try FrameTemplate(line) } catch { throw CommandError("\(error)") }
        }
        guard !templates.isEmpty else {
            throw CommandError(
                #"no frames on standard input; expected lines of JSON, such as {"fields":{},"body":{"text":"Hi"}}"#)
        }
        if let control { return try await run(templates, by: control, format) }
        guard let to else { return }
        let answers = TraceReading(of: "\(to)")
        let sinks = [try output.sink(source: "send to \(to)") { $0.endProcess() }].compactMap { $0 }
        let decoder = Decoder(decoding, sinks: sinks + [answers.sink(tool: Frametap.tool, bodyLimit: .max)])
        let variations = vary.flatMap { FrameVariations($0) }
        var number = 0
        var isUnanswered = false
        for value in variations?.values.map(Optional.some) ?? [nil] {
            number += 1
            if let variations, let value { warn("connection \(number): \(variations.path) is \(value.compactText)") }
            do {
                let sending = try await Sending(
                    number: number, to: to, format: format, timeout: timeout.interval, decoder, answers)
                defer { sending.close() }
                for (place, template) in templates.enumerated() {
                    let line = try template.filled(from: sending.answered)
                    let isVaried = place == templates.count - 1
                    let bytes =
                        if let variations, let value, isVaried {
                            try variations.bytes(of: line, with: value, format)
                        } else {
                            try FrameVariations.encode(line, format)
                        }
                    let end = try await sending.send(bytes)
                    if let end {
                        warn("connection \(number): \(end)")
                        isUnanswered = true
                        break
                    }
                }
            } catch let error as ReplayError {
                throw CommandError("\(error)")
            } catch let error as EncodingError {
                warn("connection \(number): \(error)")
                isUnanswered = true
            } catch {
                throw CommandError("cannot talk to \(to): \(connectionCause(of: error))")
            }
        }
        decoder.finish()
        decoder.flush()
        // Variations are sent to see what comes of them.
        if isUnanswered, variations == nil { throw ExitCode(1) }
    }

    /// Sends into a connection that passes through a proxy.
    private func run(_ templates: [FrameTemplate], by control: HostPort, _ format: Format) async throws {
        let file = try output.output.map { try FileOutput(creating: $0) } ?? FileOutput.standardOutput()
        file.whenBroken = { $0.endProcess() }
        let isShown = output.form != .none
        let variations = vary.flatMap { FrameVariations($0) }
        var isUnanswered = false
        do {
            var sending = try await ControlledSending(
                ControlClient(control, token: token ?? ""), listener: listener ?? "", connection: connection ?? 0,
                from: from.direction, timeout: timeout.interval)
            for value in variations?.values.map(Optional.some) ?? [nil] {
                if let variations, let value { warn("\(variations.path) is \(value.compactText)") }
                for (place, template) in templates.enumerated() {
                    let line = try template.filled(from: sending.answered)
                    let bytes =
                        if let variations, let value, place == templates.count - 1 {
                            try variations.bytes(of: line, with: value, format, from: from.direction)
                        } else {
                            try FrameVariations.encode(line, format, from: from.direction)
                        }
                    let isAnswered = try await sending.send(bytes) {
                        if isShown { file.write(Array(($0 + "\n").utf8)) }
                    }
                    if !isAnswered {
                        warn("no answer in \(timeout.interval.seconds) s")
                        isUnanswered = true
                    }
                }
            }
        } catch let error as EncodingError {
            throw CommandError("\(error)")
        } catch let error as ReplayError {
            throw CommandError("\(error)")
        } catch let error as ControlClient.Failure {
            throw CommandError(error.description)
        }
        if isUnanswered, variations == nil { throw ExitCode(1) }
    }
}

/// One connection of `frametap send`.
private final class Sending {
    /// What the server has said.
    private(set) var answered: [FrameEvent] = []
    private let connection: ServerConnection
    private let receiver: any ConnectionReceiver
    private let decoder: Decoder
    private let answers: TraceReading
    private let timeout: Interval
    private var ending: Ending?

    /// If nothing follows an answer for this long, it is the last one.
    private static let quiet = Duration.milliseconds(60)

    init(
        number: Int, to: HostPort, format: Format, timeout: Interval, _ decoder: Decoder, _ answers: TraceReading
    ) async throws {
        connection = try await ServerConnection.open(host: to.host, port: to.port, timeout: timeout)
        let ends = connection.ends
        receiver = decoder.open(
            Opening(number: number, time: WallClock.now(), client: ends.client, server: ends.server))
        (self.decoder, self.answers, self.timeout) = (decoder, answers, timeout)
    }

    /// Sends a frame, and waits for the answer; returns why there is none.
    func send(_ bytes: [UInt8]) async throws -> String? {
        let count = answered.count
        let now = WallClock.now()
        decoder.advance(to: now)
        receiver.received(bytes.span.bytes, from: .fromClient, at: now, packet: 0)
        try await connection.send(bytes)
        let deadline = ContinuousClock.now + .nanoseconds(timeout.nanoseconds)
        var latest: ContinuousClock.Instant?
        while ending == nil {
            let clock = ContinuousClock.now
            if clock >= min(latest.map { $0 + Self.quiet } ?? deadline, deadline) { break }
            if takeArrivals(), answered.count > count { latest = clock }
            try await Task.sleep(for: .milliseconds(2))
        }
        decoder.flush()
        if answered.count > count { return nil }
        switch ending {
        case .fin: return "the server closed the connection"
        case .reset: return "the server reset the connection"
        case nil: return "no answer in \(timeout.seconds) s"
        }
    }

    /// Whether anything arrived.
    private func takeArrivals() -> Bool {
        let arrivals = connection.take()
        let now = WallClock.now()
        decoder.advance(to: now)
        for arrival in arrivals {
            switch arrival {
            case .bytes(let bytes): receiver.received(bytes.span.bytes, from: .fromServer, at: now, packet: 0)
            case .ended(let ending):
                self.ending = ending
                receiver.finished(ending, from: .fromServer, at: now)
            }
        }
        let frames = answers.takeItems().compactMap(\.frame).filter { $0.from == .fromServer }
        answered += frames
        return !frames.isEmpty
    }

    func close() {
        let now = WallClock.now()
        let reason: CloseReason = ending == .reset ? .reset : .fin
        receiver.closed(Closing(reason: reason, by: ending == nil ? .fromClient : .fromServer, time: now))
        connection.close()
    }
}
