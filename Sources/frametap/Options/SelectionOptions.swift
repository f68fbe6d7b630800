import ArgumentParser
import Expressions
import Framing
import Pipeline
import Streams
import Trace

/// Which part of a trace is shown.
struct SelectionOptions: ParsableArguments {
    @Option(
        name: .customLong("filter"),
        help: ArgumentHelp(
            "Show only frames that match this expression: 'type == \"img\" && length > 1000'. May be repeated: all must match.",
            valueName: "expression"))
    var filters: [String] = []

    @Option(
        name: .customLong("grep"),
        help: ArgumentHelp(
            "Show only frames that contain this text, or these bytes: 0xff00. Decoded bodies are searched, too; secrets are not.",
            valueName: "text|hex"))
    var searches: [String] = []

    @Option(
        name: [.customLong("connection"), .customLong("follow")],
        help: ArgumentHelp("Follow only this connection, by its number in the trace; may be repeated.", valueName: "n"))
    var connections: [Int] = []

    @Option(
        help: ArgumentHelp(
            "Of connections with rules, show what both sides sent (in), what the proxy passed on (out), or both.",
            valueName: "leg"))
    var leg: LegChoice?

    @Option(
        help: ArgumentHelp(
            "Skip frames and findings before this time (RFC 3339), such as 2026-11-21T08:00:00Z. Connections and the summary stay.",
            valueName: "time"))
    var since: String?

    @Option(help: ArgumentHelp("Skip frames and findings at or after this time.", valueName: "time"))
    var until: String?

    @Option(help: ArgumentHelp("Show at most N frames. The summary counts all of a file.", valueName: "n"))
    var count: Int?

    @Option(
        help: ArgumentHelp("Write each body to a file of its own in this folder.", valueName: "folder"),
        completion: .directory)
    var extract: String?

    @OptionGroup var failing: FailOptions

    func validate() throws {
        if let count, count < 1 { throw ValidationError("--count is \(count); expected 1 or more") }
        _ = try selection()
    }

    /// The requested selection.
    func selection() throws -> Selection {
        var selection = Selection()
        selection.condition = try condition { FrameValues.complaint(about: $0, inTrace: true) }
        selection.contained = try searches.single("--grep", "expected one text, or bytes such as 0xff00")
            .map { try bytes($0) }
        selection.connections = Set(connections)
        selection.legs = leg?.legs
        selection.since = try time(since, "--since")
        selection.until = try time(until, "--until")
        if let since, let until, let first = selection.since, let end = selection.until, first >= end {
            throw ValidationError("--until \(until) is not after --since \(since): there is nothing between them")
        }
        selection.frames = count
        return selection
    }

    /// Warns of requested connections that do not exist.
    func warnOfMissingConnections(_ summary: Summary) {
        let count = summary.formats.values.reduce(0) { $0 + $1.connections }
        for number in connections where number < 1 || number > count {
            warn(
                "there is no connection \(number): \(Quantities.counted(count, "connection")) in all, numbered from 1")
        }
    }

    /// Rejects a filter that no frame of the formats can match.
    func check(against options: DecodingOptions) throws {
        if filters.isEmpty { return }
        let formats = options.knownFormats
        let condition = try condition {
            FrameValues.complaint(about: $0, inTrace: true) ?? FrameValues.complaint(about: $0, in: formats)
        }
        guard let condition else { return }
        for complaint in ConditionCheck.complaints(about: condition, in: formats) { warn("--filter: \(complaint)") }
    }

    /// What all filters together ask for; nil without any.
    private func condition(_ complaint: @escaping (_ path: [String]) -> String?) throws -> Expression? {
        do throws(ExpressionError) {
            var condition: Expression?
            // Each alone, so that an error is shown in what was written.
            for filter in filters { condition = try Expression(parsing: filter, complaint: complaint) }
            if filters.count < 2 { return condition }
            return try Expression(parsing: filters.map { "(\($0))" }.joined(separator: " and "), complaint: complaint)
        } catch {
            throw ValidationError("--filter: \(error.rendered)")
        }
    }

    /// The bytes to search for: a text's, or hex digits after `0x`.
    private func bytes(_ text: String) throws -> [UInt8] {
        if text.isEmpty { throw ValidationError("--grep is empty; expected text, or bytes such as 0xff00") }
        guard text.hasPrefix("0x") else { return Array(text.utf8) }
        let digits = Array(text.utf8.dropFirst(2))
        let pairs = stride(from: 0, to: digits.count, by: 2).map { digits[$0..<min($0 + 2, digits.count)] }
        let bytes = pairs.compactMap { $0.count == 2 ? UInt8(String(decoding: $0, as: UTF8.self), radix: 16) : nil }
        guard !bytes.isEmpty, bytes.count == pairs.count else {
            throw ValidationError("--grep is \(text); expected pairs of hex digits after 0x")
        }
        return bytes
    }

    private func time(_ text: String?, _ option: String) throws -> Timestamp? {
        guard let text else { return nil }
        if let time = Timestamp(rfc3339: text) { return time }
        throw ValidationError("\(option) is \(text); expected a time such as 2026-11-21T08:00:00Z")
    }

    /// Puts the selection in front of a sink, together with the writer of body files.
    ///
    /// - Parameters:
    ///   - whenDone: called when all frames that were asked for have been shown.
    ///   - whenFailed: called if a body could not be written.
    func apply(
        to sink: (any TraceSink)?, whenDone: @escaping () -> Void, whenFailed: @escaping () -> Void = {}
    ) throws -> [any TraceSink] {
        let selection = try selection()
        var sinks = [sink, try extract.map { try BodyFiles(in: $0, whenFailed: whenFailed) }].compactMap { $0 }
        if !selection.isEverything {
            sinks = sinks.map { SelectingSink(selection, to: $0, whenDone: whenDone) }
        }
        return sinks
    }
}

/// The legs of connections to show.
enum LegChoice: String, ExpressibleByArgument, CaseIterable {
    case `in`, out, both

    var legs: Set<Leg> {
        switch self {
        case .in: [.in]
        case .out: [.out]
        case .both: Set(Leg.allCases)
        }
    }
}
