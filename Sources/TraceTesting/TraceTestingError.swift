/// Why there is no trace.
public struct TraceTestingError: Error, CustomStringConvertible {
    /// The problem, and what was expected.
    public var description: String
}
