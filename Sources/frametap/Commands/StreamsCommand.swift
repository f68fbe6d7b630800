import ArgumentParser
import Crypto
import Framing
import Packets
import Streams
import Trace

/// `frametap streams`: the reassembled byte streams of captures.
struct StreamsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "streams",
        abstract: "Reassemble the TCP streams of captures: a line of JSON for each connection.")

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"))
    var files: [String]

    @Option(help: ArgumentHelp("Also write each stream's bytes to a file in this folder.", valueName: "folder"))
    var directory: String?

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess() }
        let listing = StreamListing(output: output, directory: directory)
        if let directory, mkdir(directory, 0o700) != 0, errno != EEXIST {
            throw Trouble("cannot create the folder \(directory): \(systemError())")
        }
        var options = ReassemblyOptions()
        options.notices = false
        options.serverPorts = Set(try BuiltInFormats.all().flatMap(\.ports))
        var reading = CaptureReading()
        reading.read(files, options: options, to: listing) {}
        listing.finish()
        if reading.hasFailed || listing.hasFailed { throw ExitCode(2) }
    }
}
