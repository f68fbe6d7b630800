import ArgumentParser
import Framing
import Platform
import Proxy
import Replay
import Streams
import Torture

/// `frametap torture`: finds the segmentation of a stream at which a receive loop breaks.
struct TortureCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Replay a recorded conversation under every segmentation, and report what breaks.",
        discussion: """
            Every frame is cut in two at every place, at every byte, at random, and joined with the frames after it; each cut is \
            proven to have been seen by the receiver (on this machine, Linux), and the answers are compared with those of runs \
            without any cut.

              frametap torture --server 127.0.0.1:8088 --replay chat.pcapng
              frametap torture --client './client {host} {port}' --to 127.0.0.1:8088 --format im-json

            Exit status: 0 nothing breaks, 1 something does, 2 inconclusive.
            """)

    @Option(help: ArgumentHelp("Torture this server: play the client's side of --replay.", valueName: "host:port"))
    var server: HostPort?

    @Option(
        help: ArgumentHelp("The recorded conversation: a trace or a capture.", valueName: "file"), completion: .file())
    var replay: String?

    @Option(
        help: ArgumentHelp(
            "Torture this client: the shell command is run once per segmentation, with {host} and {port} replaced.",
            valueName: "command"))
    var client: String?

    @Option(help: ArgumentHelp("With --client: the server that it talks to.", valueName: "host:port"))
    var to: HostPort?

    @Option(
        help: ArgumentHelp("The format; with --replay by default the trace's.", valueName: "format"),
        completion: .file())
    var format: String?

    @Option(
        help: ArgumentHelp(
            "Mask the values that change from run to run, with the rules of this file, as in diff. May be repeated.",
            valueName: "file"), completion: .file())
    var mask: [String] = []

    @Option(help: ArgumentHelp("Ignore these values, as in diff. May be repeated.", valueName: "path"))
    var ignore: [String] = []

    @Option(
        help: ArgumentHelp(
            "The seed of random cuts: the same seed makes the same ones. By default a random one, which is printed.",
            valueName: "number"))
    var seed: UInt64?

    @Option(help: ArgumentHelp("At most how many runs are played at once.", valueName: "count"))
    var parallel: Int?

    @Option(
        help: ArgumentHelp(
            "How long an answer of the server may take, or 20 times as long as the slowest one without cuts, whichever is longer.",
            valueName: "time"))
    var patience = TimeAmount(seconds: 0.2)

    @Option(name: .customLong("as"), help: "How to print what was found: text, json, junit, github.")
    var form = Form.text

    enum Form: String, ExpressibleByArgument, CaseIterable { case text, json, junit, github }

    func validate() throws {
        switch (server, client) {
        // Reported by `run`: here it would hide an unknown option.
        case (nil, nil): break
        case (.some, .some): throw ValidationError("--server and --client cannot be combined")
        case (.some, nil):
            if replay == nil { throw ValidationError("--server needs --replay: the conversation to play") }
        case (nil, .some):
            if to == nil { throw ValidationError("--client needs --to: the server that it talks to") }
            if format == nil { throw ValidationError("--client needs --format: that of the conversation") }
        }
        if let parallel, !(1...1000).contains(parallel) {
            throw ValidationError("--parallel is \(parallel); expected 1 to 1000")
        }
    }

    func run() async throws {
        signal(SIGPIPE, SIG_IGN)
        DescriptorLimit.raise()
        do {
            let torturing = Task { try await torture() }
            let signals = EndSignals { torturing.cancel() }
            defer { signals.cancel() }
            let (report, name) = try await torturing.value
            let text =
                switch form {
                case .text: TortureText.of(report)
                case .json: TortureJSON.of(report)
                case .junit: TortureJUnit.of(report, name: name)
                case .github: TortureGitHub.of(report, name: name)
                }
            let output = FileOutput.standardOutput()
            output.whenBroken = { $0.endProcess(unless: true) }
            output.write(Array(text.utf8))
            if form == .github {
                StepSummaryFile()?.write(Array(TortureGitHub.summary(of: report, name: name).utf8))
            }
            if !report.isClean { throw ExitCode(1) }
            if !report.isComplete { throw ExitCode(2) }
        } catch let error as ExitCode {
            throw error
        } catch let error as ValidationError {
            throw error
        } catch is CancellationError {
            throw ExitCode(2)
        } catch {
            warn("\(error)")
            throw ExitCode(2)
        }
    }

    private func torture() async throws -> (TortureReport, name: String) {
        let seed = seed ?? .random(in: 0...UInt64(UInt32.max))
        guard let server, let replay else {
            guard let client, let to, let format else {
                throw ValidationError("expected --server and --replay, or --client and --to")
            }
            var comparing = try ComparisonOptions.parse([])
            (comparing.mask, comparing.ignore) = (mask, ignore)
            var options = TortureOptions(
                try FormatOptions.format(format), try comparing.comparison(), seed: seed)
            options.parallel = parallel ?? Int(max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN))))
            return (try await ClientTorture.run(client, to: to, options), "torture \(client)")
        }
        let loaded = try RecordingToPlay(
            replay, format: format, mask: mask, ignore: ignore, saying: .fromClient
        ) { "--format \($0).yaml" }
        var options = TortureOptions(loaded.format, loaded.comparison, seed: seed)
        options.parallel = parallel ?? options.parallel
        options.patience = patience.interval
        let report = try await ServerTorture.run(
            loaded.recording, host: server.host, port: server.port, options)
        return (report, "torture \(server)")
    }
}
