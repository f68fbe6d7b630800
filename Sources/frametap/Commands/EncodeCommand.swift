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
                frames of the other side or leg, and lines that are no frames, are skipped.

                  echo '{"fields":{"command":"text"},"body":{"text":"Hello"}}' | frametap formats encode tlv32 | od -t x1
                """)

        @Argument(
            help: "A built-in format's or rule's name, or a format file; parameters as with --format.",
            completion: .file())
        var name: String

        @Option(help: ArgumentHelp("Whose frames to build.", valueName: "side"))
        var from = Side.client

        @Option(
            help: ArgumentHelp(
                "Of a trace of connections with rules, build what both sides sent (in), or what the proxy passed on (out).",
                valueName: "leg"))
        var leg = LegOption.in

        @OptionGroup var bodies: BodyOptions

        func run() throws {
            signal(SIGPIPE, SIG_IGN)
            var options = DecodingOptions(.fixed(try FormatOptions.format(name)))
            try bodies.apply(to: &options)
            guard case .fixed(let format) = options.choice else { return }
            let output = FileOutput.standardOutput()
            output.whenBroken = { $0.endProcess() }
            var number = 0
            var (built, skipped) = (0, 0)
            var hasOtherLeg = false
            try LineInput(FileInput("-")).forEach { line in
                number += 1
                guard !line.isBlank else { return }
                do throws(EncodingError) {
                    guard let frame = try FrameLine(parsing: line), frame.from ?? from.direction == from.direction
                    else {
                        skipped += 1
                        return
                    }
                    guard frame.leg ?? leg.leg == leg.leg else {
                        skipped += 1
                        hasOtherLeg = true
                        return
                    }
                    output.write(try format.encode(frame, from: from.direction))
                    built += 1
                } catch {
                    throw CommandError("line \(number): \(error)")
                }
            }
            if built == 0, skipped > 0 {
                let place = hasOtherLeg ? " on the leg \(leg.rawValue)" : ""
                warn("none of \(Quantities.counted(skipped, "line")) is a frame of the \(from.rawValue)\(place)")
            }
        }
    }
}

extension RawSpan {
    /// Whether a line has nothing but white space.
    fileprivate var isBlank: Bool {
        for index in 0..<byteCount where ![0x20, 0x09, 0x0D].contains(self[unchecked: index]) { return false }
        return true
    }
}
