/// Why something is not a trace, and where.
public struct TraceReadError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file.
    public var file: String
    /// The line, from 1.
    public var line: Int
    /// What was found, and what was expected.
    public var message: String

    /// `login.ndjson:12: the line is cut off; expected …`
    public var description: String { "\(file):\(line): \(message)" }
}
