/// The forms in which a trace is written.
public enum TraceForm: String, Sendable, CaseIterable {
    /// Lines for people.
    case text
    /// One JSON object a line, for programs (docs/trace.md).
    case ndjson
    /// The counts alone.
    case summary
    /// Nothing.
    case none

    /// Something that writes a trace in this form, with the defaults of each; nil where nothing is to be written.
    ///
    /// - Parameters:
    ///   - source: what is traced: a file's name, `-`, an address.
    ///   - tool: the program and its version.
    public func sink(to output: any ByteOutput, source: String, tool: String) -> (any TraceSink)? {
        sink(to: output, source: source, tool: tool, text: TextOptions())
    }

    /// The same.
    ///
    /// - Parameter text: how lines for people are written, and how many bytes of a body are shown in any form.
    package func sink(
        to output: any ByteOutput, source: String, tool: String, text: TextOptions
    ) -> (any TraceSink)? {
        switch self {
        case .text: TextWriter(to: output, options: text)
        case .ndjson: NDJSONWriter(to: output, source: source, tool: tool, bodyLimit: text.bodyLimit)
        case .summary: SummaryWriter(to: output)
        case .none: nil
        }
    }
}
