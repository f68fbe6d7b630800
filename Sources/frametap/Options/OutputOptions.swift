import ArgumentParser
import Streams
import Trace

/// How a trace is shown.
struct OutputOptions: ParsableArguments {
    /// How much of a body is shown if nothing is asked for.
    static let usualBodyLimit = 4_096

    @Option(name: .customLong("as"), help: "What to print: \(TraceForm.allValueStrings.joined(separator: ", ")).")
    var form = TraceForm.text

    @Option(
        help: ArgumentHelp("Write to this file instead of standard output.", valueName: "file"), completion: .file())
    var output: String?

    @Option(help: ArgumentHelp("Show at most N bytes of each body; 0 shows none.", valueName: "bytes"))
    var bodyLimit = OutputOptions.usualBodyLimit

    @Option(name: .customLong("time"), help: "What the first column shows.")
    var times = TextOptions.Times.utc

    @Flag(name: [.short, .long], help: "Show each frame's fields and a hex dump.")
    var verbose = false

    @Option(help: ArgumentHelp("When to use colors. Honors NO_COLOR.", valueName: "when"))
    var color = ColorChoice.auto

    func validate() throws {
        if bodyLimit < 0 { throw ValidationError("--body-limit is \(bodyLimit); expected 0 or more bytes") }
    }

    /// Whether counts are all that is printed: connections, frames and findings are not.
    var showsOnlyCounts: Bool { form == .summary || form == .none }

    /// Opens the output: the file, or standard output.
    ///
    /// - Parameters:
    ///   - keepsContent: whether what the file has stays until `FileOutput.begin` is called.
    ///   - endsOnSignal: whether a signal ends the wait for a reader.
    ///   - whenBroken: called once, when writing failed.
    func open(
        keepsContent: Bool = false, endsOnSignal: Bool = false, whenBroken: @escaping (FileOutput.Failure) -> Void
    ) throws -> FileOutput {
        let file =
            try output.map { try FileOutput(creating: $0, keepsContent: keepsContent) } ?? FileOutput.standardOutput()
        file.whenBroken = whenBroken
        file.endsOnSignal = endsOnSignal
        return file
    }

    /// The sink that writes to the output; nil if nothing is written.
    ///
    /// - Parameters:
    ///   - file: the output.
    ///   - source: what is traced.
    ///   - isFile: whether that is a file.
    ///   - captures: the captures that it is made of, if those are read whole.
    ///   - threads: how many may render it.
    ///   - failing: what fails a check, in the forms that show that.
    func sink(
        to file: FileOutput, source: String, isFile: Bool = false, captures: [String] = [],
        threads: ThreadOptions? = nil, failing: CheckedKinds = CheckedKinds()
    ) -> (any TraceSink)? {
        let text = textOptions(for: file)
        if let lines = form.lines(text), let threads, !threads.isAlone,
            let sink = ParallelLines.sink(lines, for: captures, to: file, source: source, threads: threads.renderers)
        {
            return sink
        }
        return form.sink(
            to: file, source: source, isFile: isFile, tool: Frametap.tool, text: text,
            failing: failing,
            stepSummary: form == .github ? StepSummaryFile() : nil)
    }

    private func textOptions(for file: FileOutput) -> TextOptions {
        var options = TextOptions()
        options.times = times
        options.utcOffset = LocalTime.utcOffset
        options.isVerbose = verbose
        options.bodyLimit = bodyLimit
        options.columns = file.terminalColumns
        options.isColored = color.applies(to: file)
        return options
    }
}

extension TraceForm: ExpressibleByArgument {}

extension TextOptions.Times: ExpressibleByArgument {}

/// When text is coloured.
enum ColorChoice: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    /// Whether output to a file is coloured (`auto`: a terminal, unless NO_COLOR is set; no-color.org).
    func applies(to file: FileOutput) -> Bool {
        switch self {
        case .always: true
        case .never: false
        case .auto: file.isTerminal && (Environment["NO_COLOR"] ?? "").isEmpty && Environment["TERM"] != "dumb"
        }
    }
}
