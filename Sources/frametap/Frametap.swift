import ArgumentParser
import Framing
import Platform
import Trace

/// The command line.
@main
struct Frametap: AsyncParsableCommand {
    /// The program and its version, as traces and captures name it.
    static let tool = "frametap 0.1.0"

    static let configuration = CommandConfiguration(
        commandName: "frametap",
        abstract: "Decodes the application frames of the protocol you wrote.",
        discussion: """
            Reads them from a capture or an interface, or stands between a client and its server while it forwards.

              frametap demo                                              see what it does, nothing to set up
              frametap proxy --listen 127.0.0.1:8088 --to server:8088    watch a client talk to its server
              frametap decode chat.pcapng                                read a capture
              frametap view chat.pcapng                                  look at it in a browser
              frametap capture lo                                        watch an interface
            """,
        version: tool,
        subcommands: [
            DemoCommand.self, ProxyCommand.self, CaptureCommand.self, DecodeCommand.self, ViewCommand.self,
            ReportCommand.self, TablesCommand.self,
            StreamsCommand.self, PacketsCommand.self, IndexCommand.self, ShardCommand.self,
            DiffCommand.self,
            FormatsCommand.self, ServeCommand.self, ConnectCommand.self, TortureCommand.self, SendCommand.self,
            CACommand.self, DoctorCommand.self,
        ])

    /// Runs the command that the arguments name. The parser reports wrong usage; any other error leads to exit status 2.
    static func main() async {
        StandardDescriptors.openClosed()
        if let advice = adviceAboutHelp() {
            writeToStandardError(advice)
            exit(withError: ExitCode.validationFailure)
        }
        var running: (any ParsableCommand.Type)?
        do {
            var command = try parseAsRoot()
            running = type(of: command)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            if exitCode(for: error) == .validationFailure {
                if let word = CommandLine.arguments.dropFirst().first, let advice = Self.advice(about: word) {
                    writeToStandardError(advice)
                    exit(withError: ExitCode.validationFailure)
                }
                // The parser's message repeats its input. Of what a command finds itself, it says the usage of the whole program.
                let advice = running.flatMap { Self.path(to: $0, from: self) }.map { path in
                    "Error: \(message(for: error))\n  See 'frametap \(path) --help' for more information."
                }
                let lines = ExpectedValue.added(to: advice ?? fullMessage(for: error)).split(
                    separator: "\n", omittingEmptySubsequences: false)
                writeToStandardError(lines.map { PrintableText.of($0) + "\n" }.joined())
                exit(withError: ExitCode.validationFailure)
            }
            if exitCode(for: error) == .success {
                let text = fullMessage(for: error)
                if !text.isEmpty { printText(text) }
                exit(withError: ExitCode.success)
            }
            guard exitCode(for: error) == .failure, !(error is ExitCode) else { exit(withError: error) }
            warn("\(error)")
            exit(withError: ExitCode(2))
        }
    }

    /// The names that lead from a command to one of its subcommands; nil if it has none of that type.
    private static func path(to wanted: any ParsableCommand.Type, from command: any ParsableCommand.Type) -> String? {
        for inner in command.configuration.subcommands {
            if inner == wanted { return inner._commandName }
            if let rest = path(to: wanted, from: inner) { return "\(inner._commandName) \(rest)" }
        }
        return nil
    }

    /// What to say of a word after `help` that is no command; nil if there is none.
    private static func adviceAboutHelp() -> String? {
        guard CommandLine.arguments.dropFirst().first == "help" else { return nil }
        var command: any ParsableCommand.Type = self
        for word in CommandLine.arguments.dropFirst(2) where !command.configuration.subcommands.isEmpty {
            if let advice = advice(about: word, in: command) { return advice }
            guard let inner = command.configuration.subcommands.first(where: { $0._commandName == word }) else { break }
            command = inner
        }
        return nil
    }

    /// What to say of a word that is none of a command's subcommands; nil if it is one, or an option.
    private static func advice(about word: String, in command: any ParsableCommand.Type = Frametap.self) -> String? {
        let names = command.configuration.subcommands.map { $0._commandName } + ["help"]
        guard !word.hasPrefix("-"), !names.contains(word) else { return nil }
        let file = access(word, F_OK) == 0 ? "\n  To read a file: frametap decode \(PrintableText.of(word))" : ""
        return """
            frametap: there is no command \(PrintableText.of(word)); \(LoadContext.hint(word, names))\(file)
              frametap --help says what the commands do.

            """
    }
}
