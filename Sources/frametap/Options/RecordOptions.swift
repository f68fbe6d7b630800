import ArgumentParser
import Proxy
import Streams
import Trace

/// Where captured or relayed data is recorded.
struct RecordOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Write the traffic as a pcapng capture.", valueName: "file.pcapng"), completion: .file())
    var write: String?

    @Option(help: ArgumentHelp("Write the trace as NDJSON.", valueName: "file.ndjson"), completion: .file())
    var trace: String?

    @Option(
        help: ArgumentHelp(
            "Continue in another file (file-0001.pcapng, file-0002.pcapng, …) before one exceeds this size, or at this age: 100MB, 1h, or 100MB,1h.",
            valueName: "size,time"),
        transform: { try Rotation(parsing: $0) })
    var rotate: Rotation?

    @Option(
        help: ArgumentHelp("With --rotate: keep N files of each kind, and delete older ones.", valueName: "n"))
    var keep: Int?

    func validate() throws {
        if let keep, keep < 1 { throw ValidationError("--keep is \(keep); expected 1 or more files") }
        if keep != nil, rotate == nil { throw ValidationError("--keep needs --rotate: without it there is one file") }
    }

    /// Rejects writing two outputs to one file, and series without files.
    ///
    /// - Parameters:
    ///   - ciphertext: the file of `--write-tls`, which is one of the records, too.
    ///   - inputs: the files that are read.
    func check(
        _ output: OutputOptions, ciphertext: String? = nil, _ others: [(option: String, path: String?)] = [],
        inputs: [String] = []
    ) throws {
        let shown = output.form == .none ? nil : output.output ?? (write == "-" || trace == "-" ? "-" : nil)
        try OutputFiles.check(
            [("--write", write), ("--trace", trace), ("--output", shown)] + others + [("--write-tls", ciphertext)],
            inputs: inputs)
        guard rotate != nil else { return }
        let paths = [write, trace, ciphertext].compactMap { $0 }
        if paths.isEmpty { throw ValidationError("--rotate needs --write or --trace") }
        if paths.contains("-") { throw ValidationError("--rotate needs files, not standard output") }
    }

    /// Creates the file of the capture, if one is requested.
    func captureFile(start: Timestamp, whenBroken: @escaping (FileOutput.Failure) -> Void) throws -> RecordFile? {
        try write.map { try file($0, of: .blocks, start, whenBroken) }
    }

    /// Creates a file for another capture.
    func captureFile(
        at path: String, start: Timestamp, whenBroken: @escaping (FileOutput.Failure) -> Void
    ) throws -> RecordFile {
        try file(path, of: .blocks, start, whenBroken)
    }

    /// Creates the file of the trace, if one is requested.
    func traceFile(start: Timestamp, whenBroken: @escaping (FileOutput.Failure) -> Void) throws -> LineRecord? {
        try trace.map { LineRecord(try file($0, of: .lines, start, whenBroken)) }
    }

    private func file(
        _ path: String, of pieces: RecordPieces, _ start: Timestamp,
        _ whenBroken: @escaping (FileOutput.Failure) -> Void
    ) throws -> RecordFile {
        HangUp.listen()
        return try RecordFile(path, of: pieces, rotation: rotate, keep: keep, start: start, whenBroken: whenBroken)
    }
}

extension Rotation {
    /// Parses a size, a time, or both separated by a comma. Their units tell them apart, so that a number alone is neither.
    init(parsing text: String) throws {
        self.init()
        for part in text.split(separator: ",", omittingEmptySubsequences: false).map(String.init) {
            let hasUnit = part.contains { !$0.isNumber && $0 != "." && $0 != " " }
            if hasUnit, size == nil, let amount = ByteAmount(argument: part), amount.bytes > 0 {
                size = amount.bytes
            } else if hasUnit, interval == nil, let amount = TimeAmount(argument: part), amount.interval.nanoseconds > 0
            {
                interval = amount.interval
            } else {
                throw ValidationError(
                    "expected a size, a time, or both: 100MB, 1h, or 100MB,1h, with units of sizes (\(ByteAmount.units)) "
                        + "and of times (\(TimeAmount.units)); found '\(part)'")
            }
        }
    }
}
