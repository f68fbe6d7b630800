import ArgumentParser
import Platform
import Streams
import Tables
import Trace

/// How the tables of a collection of captures are made in several runs: what `frametap-spark` uses.
struct TableOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Connections that ended before this time are final; the rows of others, which a later run may continue, go to files of their own: NAME-final.parquet and NAME-live.parquet.",
            valueName: "time"))
    var finalBefore: String?

    @Option(
        help: ArgumentHelp(
            "Leave out connections that ended before this time: an earlier run has written them.", valueName: "time"))
    var writtenBefore: String?

    @Option(
        name: .customLong("except"),
        help: ArgumentHelp(
            "Leave out the connections that this file names, a line each: 10.0.0.1:40000-10.0.0.2:80.",
            valueName: "file"),
        completion: .file())
    var exceptions: String?

    @Flag(help: "The captures are one of several shards: leave out what is found by comparing connections.")
    var shard = false

    func validate() throws {
        if try selection(reads: false).finalBefore == nil, writtenBefore != nil {
            throw ValidationError(
                "--written-before needs --final-before: expected the times of the earlier run and of this one")
        }
    }

    /// Whether rows that a later run replaces have files of their own.
    var isSplit: Bool { finalBefore != nil }

    /// Which connections are written.
    func selection() throws -> TableSelection { try selection(reads: true) }

    private func selection(reads: Bool) throws -> TableSelection {
        var selection = TableSelection()
        selection.finalBefore = try Self.time(finalBefore, "--final-before")
        selection.writtenBefore = try Self.time(writtenBefore, "--written-before")
        selection.isShard = shard
        guard reads, let exceptions else { return selection }
        let text = String(decoding: try FileInput.contents(of: exceptions, limit: 1 << 30), as: UTF8.self)
        selection.except = try Self.pairs(in: text, of: exceptions)
        return selection
    }

    /// The connections that the lines of a file name, each as tables name it: its ends in the order of their text.
    private static func pairs(in text: String, of file: String) throws -> Set<String> {
        var pairs: Set<String> = []
        // A carriage return and a newline are one character.
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            var ends = line.drop { $0.isWhitespace }
            while ends.last?.isWhitespace == true { ends.removeLast() }
            if ends.isEmpty { continue }
            guard let (one, other) = ConnectionOptions.endpoints(String(ends)) else {
                throw CommandError("\(file):\(index + 1): found \(ends); expected \(ConnectionOptions.expectedEnds)")
            }
            pairs.insert([one.description, other.description].sorted().joined(separator: "-"))
        }
        return pairs
    }

    private static func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        if let time = Timestamp(rfc3339: text) { return time }
        throw ValidationError("\(option) is \(text); expected a time such as 2026-11-21T08:00:00Z")
    }
}
