import ArgumentParser
import Framing
import Packets
import Pipeline
import Platform
import Streams
import Trace

/// `frametap formats check`: what is wrong with a format file, and how much of a capture it frames.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Check a format file for errors, and try it on captures.",
        discussion: """
            With --on, it shows how much of each capture the format frames, and where it fails first: what was expected there, \
            next to the bytes. With --watch, it does so again whenever the file is saved.

              frametap formats check chat.yaml --on chat.pcapng --watch
            """)

    @Argument(help: "The format file.", completion: .file())
    var file: String

    @Option(
        name: .customLong("on"), parsing: .upToNextOption,
        help: ArgumentHelp("Try the format on these captures.", valueName: "capture"), completion: .file())
    var captures: [String] = []

    @Flag(help: "Check again whenever the file is saved, until interrupted.")
    var watch = false

    @OptionGroup var decryption: DecryptionOptions

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess(unless: !watch) }
        guard watch else { return try check(output) }
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        var seen: [UInt8]?
        while !progress.isInterrupted {
            // A file that an editor is replacing may not be there for a moment.
            let bytes = try? FileInput.contents(of: file, limit: 4 << 20)
            if let bytes, bytes != seen {
                if seen != nil { output.write(Array("\n".utf8)) }
                seen = bytes
                do { try check(output) } catch { if !(error is ExitCode) { warn("\(error)") } }
            } else if bytes == nil, seen == nil {
                return try check(output)
            }
            usleep(200_000)
        }
    }

    private func check(_ output: FileOutput) throws {
        let bytes = try FileInput.contents(of: file, limit: 4 << 20)
        let (format, warnings) = try FormatLoader.loadWithWarnings(
            String(decoding: bytes, as: UTF8.self), file: file, source: { FileInput.format(named: $0, beside: file) })
        for warning in warnings {
            warn("\(warning.file ?? file):\(warning.line):\(warning.column): warning: \(warning.message)")
        }
        output.write(Array("\(file): \(format.name) is well-formed\n".utf8))
        var isComplete = true
        for capture in captures where try !attempt(format, on: capture, output) { isComplete = false }
        if !isComplete { throw ExitCode(2) }
    }

    /// Decodes a capture with the format.
    ///
    /// - Returns: whether it could be read to its end.
    private func attempt(_ format: Format, on capture: String, _ output: FileOutput) throws -> Bool {
        var decoding = DecodingOptions(.fixed(format))
        decoding.tls = try decryption.decoding()
        let trial = FormatTrial()
        let decoder = Decoder(decoding, analyses: [], sinks: [trial])
        var options = ReassemblyOptions()
        options.notices = false
        options.serverPorts = Set(format.ports)
        var reading = CaptureReading()
        reading.read([capture], options: options, to: decoder, progress: ReadingProgress()) {}
        decoder.finish()
        for complaint in reading.complaints { warn(complaint) }
        reading.counters.warnOfUnreadLinkTypes()
        // What cannot be read has been named.
        if trial.isEmpty, reading.hasFailed { return false }
        for line in trial.lines(capture) { output.write(Array("\(line)\n".utf8)) }
        return !reading.hasFailed
    }
}
