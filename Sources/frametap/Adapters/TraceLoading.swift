import Packets
import Pipeline
import Streams
import Trace

/// Reads traces from files: NDJSON as it is, captures decoded while reading.
struct TraceLoading {
    let format: FormatOptions
    let bodies: BodyOptions
    /// How many bytes of each body of a capture are read.
    let bodyLimit: Int
    /// How much memory decoding a capture may take; nil: the default.
    var memory: MemoryOptions?
    /// How TLS in captures is decrypted; nil: with the secrets in the captures.
    var decryption: DecryptionOptions?
    /// Whose frames' bytes are kept of a capture; nil: nobody's.
    var keptSide: Direction?

    /// What a file is.
    enum Kind { case lines, capture }

    /// The combined trace of all these files.
    func trace(of paths: [String]) throws -> RecordedTrace {
        return try Self.kind(of: paths) == .lines ? read(paths) : decode(paths)
    }

    /// What all these files are.
    static func kind(of paths: [String]) throws -> Kind? {
        let kinds = try paths.map { try (path: $0, kind: kind(of: $0)) }
        if let other = kinds.first(where: { $0.kind != kinds[0].kind }) {
            throw CommandError(
                "\(other.path) is \(other.kind == .lines ? "a trace" : "a capture"), \(kinds[0].path) is not; "
                    + "expected captures only, or traces only")
        }
        return kinds.first?.kind
    }

    /// Distinguished by the first bytes: those of a capture are not text.
    private static func kind(of path: String) throws -> Kind {
        guard path != "-" else { throw CommandError("- is standard input; expected a file") }
        let input = try FileInput(path)
        defer { input.closeFile() }
        guard !input.isFollowed else { return .lines }
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = try bytes.withUnsafeMutableBytes { try input.read(into: $0) }
        if CaptureMagic.isCompressedTrace(bytes.prefix(count)) {
            throw CommandError(
                "\(path) is a compressed trace; expand it first: gzip -dc \(ShellWord.quoted(path)) > trace.ndjson")
        }
        return CaptureMagic.begins(bytes.prefix(count)) ? .capture : .lines
    }

    private func read(_ paths: [String]) throws -> RecordedTrace {
        var reader = TraceReader()
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        for path in paths {
            try reader.begin(path)
            let input = try FileInput(path)
            defer { input.closeFile() }
            while true {
                let count = try chunk.withUnsafeMutableBytes { try input.read(into: $0) }
                if count == 0 { break }
                try reader.read(chunk.span.bytes.extracting(0..<count))
            }
        }
        let trace = try reader.finish()
        for note in trace.notes { warn(note) }
        return trace
    }

    private func decode(_ paths: [String]) throws -> RecordedTrace {
        var options = try format.decodingOptions()
        try bodies.apply(to: &options)
        memory?.apply(to: &options)
        if let decryption { options.tls = try decryption.decoding() }
        let trace = TraceReading(of: paths.joined(separator: " "))
        let decoder = Decoder(
            options, sinks: [trace.sink(tool: Frametap.tool, bodyLimit: bodyLimit, keptSide: keptSide)])
        var reassembly = ReassemblyOptions()
        reassembly.notices = false
        memory?.apply(to: &reassembly)
        reassembly.serverPorts = options.serverPorts
        var reading = CaptureReading()
        reading.read(paths, options: reassembly, to: decoder) {}
        decoder.finish(skipped: reading.counters.skippedByKind)
        reading.counters.warnOfUnreadLinkTypes()
        if reading.hasFailed {
            for complaint in reading.complaints { warn(complaint) }
            throw CommandError(
                "expected captures that can be read to their end; to compare what could be read, compare traces of it: "
                    + "frametap decode FILE --as ndjson > FILE.ndjson")
        }
        return trace.trace
    }
}
