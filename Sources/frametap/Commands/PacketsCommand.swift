import ArgumentParser
import Crypto
import Framing
import Packets
import Streams
import Trace

/// `frametap packets`: the packets of captures.
struct PacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packets", abstract: "List the packets of captures: a line of JSON for each.")

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"))
    var files: [String]

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess() }
        var hasFailed = false
        for path in files {
            var listing = PacketListing(output: output)
            do {
                let input = try FileInput(path)
                defer { input.closeFile() }
                var reader = CaptureReader(input)
                while try reader.step(to: &listing) != .end { listing.flush() }
            } catch {
                hasFailed = true
                complain(CaptureReading.describe(error, path))
            }
            listing.flush()
        }
        if hasFailed { throw ExitCode(2) }
    }
}

/// Writes a line for each packet.
private struct PacketListing: PacketReceiver {
    let output: FileOutput
    private var lines: [UInt8] = []

    init(output: FileOutput) {
        self.output = output
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        let time = packet.hasTime ? "\"\(packet.time.rfc3339)\"" : "null"
        lines += Array("{\"number\":\(packet.number),\"time\":\(time),\"interface\":\(packet.interface),".utf8)
        lines += Array("\"linkType\":\(packet.linkType.rawValue),\"captured\":\(packet.capturedLength),".utf8)
        lines += Array("\"original\":\(packet.originalLength),\"sha256\":\"".utf8)
        for byte in hash.finalize() { JSONOutput.hex(byte, into: &lines) }
        lines.append(UInt8(ascii: "\""))
        let comments = packet.comments(in: options)
        if !comments.isEmpty {
            lines += Array(",\"comments\":[".utf8)
            for (index, comment) in comments.enumerated() {
                if index > 0 { lines.append(UInt8(ascii: ",")) }
                JSONOutput.string(comment, into: &lines)
            }
            lines.append(UInt8(ascii: "]"))
        }
        lines += Array("}\n".utf8)
        return .taken
    }

    mutating func captured(until time: Timestamp) {}

    mutating func flush() {
        output.write(lines)
        lines.removeAll(keepingCapacity: true)
    }
}
