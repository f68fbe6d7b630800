/// What a user gives for reading bodies and no format file holds.
package struct BodyResources: Sendable {
    /// Keys by name; `NAME.iv` is what CBC starts with.
    package var keys: [String: [UInt8]]
    /// The messages that are read by name.
    package var schema: MessageSchema?

    /// Keys and messages.
    package init(keys: [String: [UInt8]] = [:], schema: MessageSchema? = nil) {
        self.keys = keys
        self.schema = schema
    }
}

/// Why what a user gave for reading bodies does not do.
package struct BodyResourceError: Error, Hashable, CustomStringConvertible {
    /// For people: what was given, and what would do.
    package var description: String

    /// Why it does not do.
    package init(_ description: String) {
        self.description = description
    }
}
