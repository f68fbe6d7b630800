import ArgumentParser
import Crypto
import Framing
import Packets
import Platform
import Streams
import Trace

/// `frametap packets`: the packets of captures.
struct PacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "packets", abstract: "List the packets of captures: a line of JSON for each.")

    @Argument(help: ArgumentHelp("Capture files, or - for standard input.", valueName: "file"), completion: .file())
    var files: [String]

    func run() throws {
        signal(SIGPIPE, SIG_IGN)
        let output = FileOutput.standardOutput()
        output.whenBroken = { $0.endProcess() }
        var hasFailed = false
        let progress = ReadingProgress()
        let signals = progress.endingOnSignals()
        defer { signals.cancel() }
        for path in files where !progress.isOver {
            var listing = PacketListing(output: output, file: files.count > 1 ? path : nil)
            do {
                let input = try FileInput(path, progress)
                defer { input.closeFile() }
                var reader = CaptureReader(input)
                while !progress.isOver, try reader.step(to: &listing) != .end { listing.flush() }
            } catch  where progress.isInterrupted {
                // It ends where the signal interrupted it.
            } catch {
                hasFailed = true
                warn(CaptureReading.describe(error, path))
            }
            listing.flush()
        }
        let isCut = progress.wasCutShort(files)
        if isCut { warn("interrupted: only what was read so far is listed") }
        if hasFailed || isCut { throw ExitCode(2) }
    }
}

/// Writes a line for each packet.
private struct PacketListing: PacketReceiver {
    private let output: FileOutput
    private let file: String?
    /// The names of the section's interfaces.
    private var interfaceNames: [Int: String] = [:]
    private var lines: [UInt8] = []

    /// - Parameter file: the file's name, if there are several.
    init(output: FileOutput, file: String?) {
        self.output = output
        self.file = file
    }

    mutating func receive(_ packet: PacketInfo, bytes: RawSpan, options: RawSpan) -> Reception {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        let time = packet.hasTime ? "\"\(packet.time.rfc3339)\"" : "null"
        put("{")
        if let file { put("\"file\":", text: file, ",") }
        put("\"number\":\(packet.number),\"time\":\(time),\"interface\":\(packet.interface),")
        if let name = interfaceNames[packet.interface] { put("\"interfaceName\":", text: name, ",") }
        put("\"linkType\":\(packet.linkType.rawValue),")
        if let name = packet.linkType.name { put("\"linkTypeName\":", text: name, ",") }
        put("\"captured\":\(packet.capturedLength),\"original\":\(packet.originalLength),\"sha256\":\"")
        for byte in hash.finalize() { JSONOutput.hex(byte, into: &lines) }
        put("\"")
        let dropped = packet.droppedBefore(in: options)
        if dropped > 0 { put(",\"dropped\":\(dropped)") }
        let comments = packet.comments(in: options)
        for (index, comment) in comments.enumerated() {
            put(index == 0 ? ",\"comments\":[" : ",", text: comment, index == comments.count - 1 ? "]" : "")
        }
        put("}\n")
        return .taken
    }

    mutating func described(_ interface: CaptureInterface) {
        interfaceNames[interface.index] = interface.name
    }

    mutating func captured(until time: Timestamp) {}

    mutating func flush() {
        output.write(lines)
        lines.empty(keeping: 4 << 20)
    }

    private mutating func put(_ json: String) {
        lines += Array(json.utf8)
    }

    private mutating func put(_ before: String, text: String, _ after: String) {
        put(before)
        JSONOutput.string(text, into: &lines)
        put(after)
    }
}
