import ArgumentParser
import Framing
import Pipeline
import Platform
import Streams
import Trace

extension FormatsCommand {
    /// `frametap formats encode`: frames in, bytes out.
    struct Encode: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "encode", abstract: "Build frames: lines of JSON on standard input, bytes on standard output.",
            discussion: """
                A line is {"fields":{…},"body":{"text":…}}, or "json", "protobuf", "fields" or "hex" for text. Lines of a trace will do: \
                frames of the other side, and lines that are no frames, are skipped.

                  echo '{"fields":{"command":"text"},"body":{"text":"Hello"}}' | frametap formats encode tlv32 | od -t x1
                """)

        @Argument(
            help: "A built-in format's or rule's name, or a format file; parameters as with --format.",
            completion: .file())
        var name: String

        @Option(help: ArgumentHelp("Whose frames to build.", valueName: "side"))
        var from = Side.client

        @OptionGroup var bodies: BodyOptions

        func run() throws {
            signal(SIGPIPE, SIG_IGN)
            var options = DecodingOptions(.fixed(try FormatOptions.format(name)))
            try bodies.apply(to: &options)
            guard case .fixed(let format) = options.choice else { return }
            let output = FileOutput.standardOutput()
            output.whenBroken = { $0.endProcess() }
            var number = 0
            try LineInput(FileInput("-")).forEach { line in
                number += 1
                guard line.byteCount > 0 else { return }
                do throws(EncodingError) {
                    guard let frame = try FrameLine(parsing: line), frame.from ?? from.direction == from.direction
                    else { return }
                    output.write(try format.encode(frame, from: from.direction))
                } catch {
                    throw CommandError("line \(number): \(error)")
                }
            }
        }
    }
}
