/// Why packets cannot be captured.
public struct LiveCaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: Hashable, Sendable {
        /// There is no such interface.
        case noSuchInterface
        /// The process may not capture there.
        case notPermitted
        /// The filter is not one.
        case badFilter
        /// Anything else.
        case failed
    }

    /// What kind of trouble it is.
    public var kind: Kind
    /// For people: what happened, and what libpcap says about it.
    public var message: String

    /// For people.
    public var description: String { message }
}
