/// The forms in which a trace is written.
public enum TraceForm: String, Sendable, CaseIterable {
    /// Human-readable lines.
    case text
    /// One JSON object per line, for programs (docs/trace.md).
    case ndjson
    /// The counts only.
    case summary
    /// What fails a check, as JUnit XML: a test case for each connection.
    case junit
    /// The same as annotations of GitHub Actions.
    case github
    /// Nothing.
    case none

    /// This form, if its lines can be rendered in batches (`LineBatcher`); nil if not.
    ///
    /// - Parameter text: how human-readable lines are written, and how many bytes of a body are shown in any form.
    package func lines(_ text: TextOptions) -> LineForm? {
        switch self {
        case .text: .text(text)
        case .ndjson: .ndjson(bodyLimit: text.bodyLimit)
        case .summary, .junit, .github, .none: nil
        }
    }

    /// A sink that writes a trace in this form, with its defaults; nil if nothing is written.
    ///
    /// - Parameters:
    ///   - source: what is traced: a file's name, `-`, an address.
    ///   - tool: the program and its version.
    public func sink(to output: any ByteOutput, source: String, tool: String) -> (any TraceSink)? {
        sink(to: output, source: source, tool: tool, text: TextOptions())
    }

    /// The same.
    ///
    /// - Parameters:
    ///   - isFile: whether the source is a file.
    ///   - text: how human-readable lines are written, and how many bytes of a body are shown in any form.
    ///   - failing: what fails a check.
    ///   - stepSummary: where the summary of a step of GitHub Actions goes, as Markdown.
    package func sink(
        to output: any ByteOutput, source: String, isFile: Bool = false, tool: String, text: TextOptions,
        failing: CheckedKinds = CheckedKinds(), stepSummary: (any ByteOutput)? = nil
    ) -> (any TraceSink)? {
        switch self {
        case .text: TextWriter(to: output, options: text)
        case .ndjson: NDJSONWriter(to: output, source: source, tool: tool, bodyLimit: text.bodyLimit)
        case .summary: SummaryWriter(to: output)
        case .junit: CheckWriter(to: output, .junit, source: source, isFile: isFile, failing: failing)
        case .github:
            CheckWriter(
                to: output, .github, source: source, isFile: isFile, failing: failing, stepSummary: stepSummary)
        case .none: nil
        }
    }
}
