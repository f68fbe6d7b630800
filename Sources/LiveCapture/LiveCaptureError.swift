/// Why packets cannot be captured.
public struct LiveCaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public enum Kind: Hashable, Sendable {
        /// There is no such interface.
        case noSuchInterface
        /// The process lacks permission to capture there.
        case notPermitted
        /// The filter is invalid.
        case badFilter
        /// Anything else.
        case failed
    }

    /// The kind of error.
    public var kind: Kind
    /// Human-readable: what happened, and libpcap's message.
    public var message: String

    /// For people.
    public var description: String { message }
}
