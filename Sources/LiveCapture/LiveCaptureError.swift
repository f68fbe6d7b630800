/// Why packets cannot be captured.
package struct LiveCaptureError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    package enum Kind: Hashable, Sendable {
        /// libpcap could not be loaded, or is too old.
        case noLibrary
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
    package var kind: Kind
    /// Human-readable: what happened, and libpcap's message.
    package var message: String

    /// For people.
    package var description: String { message }
}
