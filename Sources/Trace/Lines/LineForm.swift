/// The form of lines that are rendered in batches.
package enum LineForm: Sendable {
    /// One JSON object per line.
    ///
    /// - Parameter bodyLimit: at most how many bytes of a decoded body are shown.
    case ndjson(bodyLimit: Int)
    /// Human-readable lines.
    case text(TextOptions)

    /// A writer of frames' lines, for `LineRenderer`.
    func frameWriter() -> any LineWriter {
        switch self {
        case .ndjson(let bodyLimit): NDJSONWriter(bodyLimit: bodyLimit)
        case .text(let options): TextWriter(options)
        }
    }

    /// A writer of a whole trace, from its first line on.
    func writer(source: String, tool: String) -> any LineWriter {
        switch self {
        case .ndjson(let bodyLimit): NDJSONWriter(source: source, tool: tool, bodyLimit: bodyLimit)
        case .text(let options): TextWriter(options)
        }
    }

    /// At most how many bytes of a decoded body are shown.
    package var bodyLimit: Int {
        switch self {
        case .ndjson(let bodyLimit): bodyLimit
        case .text(let options): options.longestBody
        }
    }
}
