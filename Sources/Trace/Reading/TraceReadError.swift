/// Why something is not a trace, and where.
package struct TraceReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    package var file: String
    /// The line, from 1.
    package var line: Int
    /// What was found, and what was expected.
    package var message: String

    /// `login.ndjson:12: the line is cut off; expected …`
    package var description: String { "\(file):\(line): \(message)" }
}
