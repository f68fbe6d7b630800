import ArgumentParser
import Framing
import Proxy
import Replay
import Streams
import Trace
import TraceDiff

/// A recorded trace as a stand-in for a peer.
struct ReplayCommandOptions: ParsableArguments {
    @Option(
        name: .customLong("replay"),
        help: ArgumentHelp(
            "Replay this trace or capture instead of running the reference peer.", valueName: "file"),
        completion: .file())
    var trace: String?

    @Flag(help: "With --replay: do not pause as the recording does.")
    var fast = false

    @Option(
        help: ArgumentHelp(
            "With --replay: mask the values that change from run to run, with the rules of this file, as in diff. May be repeated.",
            valueName: "file"), completion: .file())
    var mask: [String] = []

    @Option(
        help: ArgumentHelp(
            "With --replay: ignore these values, as in diff. May be repeated.", valueName: "path"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "With serve --replay: what to do on a request that the recording does not know: "
                + "\(ReplayOptions.Unknown.allCases.map(\.rawValue).joined(separator: ", ")).", valueName: "what"))
    var unknown = ReplayOptions.Unknown.close

    @Flag(help: "With --replay: show values that the format marks as secret.")
    var showSecrets = false

    func validate(_ format: String?) throws {
        if trace == nil, format == nil { throw ValidationError("expected a format, or --replay and a trace") }
        if trace == nil, fast || !mask.isEmpty || !ignore.isEmpty || showSecrets {
            throw ValidationError("--fast, --mask, --ignore and --show-secrets are for --replay, which is not given")
        }
    }

    /// Rejects options of the reference peers: a recording is played as it is. Not in `validate`, whose error would hide that of an
    /// unknown option.
    func reject(_ others: [(option: String, isGiven: Bool)]) throws {
        guard let other = others.first(where: { $0.isGiven }) else { return }
        throw ValidationError("\(other.option) is for the reference peers; --replay plays the recording as it is")
    }

    private func load(_ name: String?, _ keys: [String], saying side: Direction) throws -> RecordingToPlay {
        let (path, command) = (trace ?? "", side == .fromClient ? "connect" : "serve")
        return try RecordingToPlay(path, format: name, keys: keys, mask: mask, ignore: ignore, saying: side) {
            "frametap \(command) \($0).yaml --replay \(ShellWord.quoted(path))"
        }
    }

    private func hidden(_ loaded: RecordingToPlay) -> HiddenValues? {
        showSecrets ? nil : HiddenValues(loaded.format)
    }

    private func options(_ loaded: RecordingToPlay) -> ReplayOptions {
        var shown = loaded.format
        shown.secrets = []
        var options = ReplayOptions(shown) { warn($0) }
        options.isFast = fast
        options.unknown = unknown
        options.hidden = hidden(loaded)
        return options
    }

    /// Answers clients as the recorded server did, until a signal arrives.
    ///
    /// - Parameter keys: the keys of bodies, as `--key` takes them.
    func serve(_ listen: HostPort, _ format: String?, keys: [String]) async throws {
        let loaded = try load(format, keys, saying: .fromServer)
        let options = options(loaded)
        let (signals, serving) = EndSignals.cancelling {
            try await ReplayServer.serve(
                loaded.recording, host: listen.host, port: listen.port, options,
                bound: { warn("listening on \(HostPort(host: $0, port: $1))") })
        }
        defer { signals.cancel() }
        let unknown: Int
        do { unknown = try await serving.value } catch {
            throw CommandError("cannot serve on \(listen): \(connectionCause(of: error))")
        }
        if unknown > 0 { throw ExitCode(1) }
    }

    /// Sends what the recorded clients sent, and compares the server's answers.
    ///
    /// - Parameter keys: the keys of bodies, as `--key` takes them.
    func connect(_ to: HostPort, _ format: String?, keys: [String]) async throws {
        let loaded = try load(format, keys, saying: .fromClient)
        let options = options(loaded)
        let playing = Task {
            try await ReplayClient.play(loaded.recording, host: to.host, port: to.port, options)
        }
        let signals = EndSignals { playing.cancel() }
        defer { signals.cancel() }
        let actual: RecordedTrace
        do { actual = try await playing.value } catch {
            throw CommandError("cannot talk to \(to): \(connectionCause(of: error))")
        }
        let difference = ReplayComparison.compare(loaded.recording, actual, loaded.comparison)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess(unless: true) }
        var shown = DiffTextOptions()
        shown.isColored = ColorChoice.auto.applies(to: output)
        shown.columns = output.terminalColumns ?? 120
        shown.hidden = hidden(loaded)
        output.write(Array(DiffText.of(difference, shown).utf8))
        if !difference.isEmpty { throw ExitCode(1) }
    }
}

extension ReplayOptions.Unknown: ExpressibleByArgument {}
