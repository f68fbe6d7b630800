/// The forms in which a trace is written.
public enum TraceForm: String, Sendable, CaseIterable {
    /// Lines for people.
    case text
    /// One JSON object a line, for programs (docs/trace.md).
    case ndjson
    /// The counts alone.
    case summary

    /// Something that writes a trace in this form, with the defaults of each.
    ///
    /// - Parameters:
    ///   - source: what is traced: a file's name, `-`, an address.
    ///   - tool: the program and its version.
    public func sink(to output: any ByteOutput, source: String, tool: String) -> any TraceSink {
        switch self {
        case .text: TextWriter(to: output)
        case .ndjson: NDJSONWriter(to: output, source: source, tool: tool)
        case .summary: SummaryWriter(to: output)
        }
    }
}
