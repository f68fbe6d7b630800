/// What a user provides for decoding bodies, outside of format files.
package struct BodyResources: Sendable {
    /// Keys by name; `NAME.iv` is the CBC initialization vector.
    package var keys: [String: [UInt8]]
    /// The messages that are decoded by name.
    package var schema: MessageSchema?

    /// Keys and messages.
    package init(keys: [String: [UInt8]] = [:], schema: MessageSchema? = nil) {
        self.keys = keys
        self.schema = schema
    }
}

/// Why a resource that the user provided for decoding bodies is unusable.
package struct BodyResourceError: Error, Hashable, CustomStringConvertible {
    /// Human-readable: what was given, and what would be accepted.
    package var description: String

    /// Why the resource is unusable.
    package init(_ description: String) {
        self.description = description
    }
}
