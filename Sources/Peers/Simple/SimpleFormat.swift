import Framing

/// A peer's wire format.
enum SimpleFormat {
    /// The built-in format of that name.
    static func named(_ name: String) throws -> Format {
        guard let format = try BuiltInFormats.format(named: name) else { throw PeerError("there is no format \(name)") }
        return format
    }
}
