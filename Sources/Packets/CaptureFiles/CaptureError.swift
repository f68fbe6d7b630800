/// Something in a capture file that is not as its format says. What came before it has been delivered.
public struct CaptureError: Error, Hashable, Sendable {
    /// What kind of thing is wrong.
    public enum Kind: Hashable, Sendable {
        /// The file does not begin as a capture does.
        case notACapture
        /// The file ends within a record.
        case truncated
        /// A length field cannot be right.
        case badLength
        /// A version, byte order or number that this reader does not know.
        case unknownVariant
        /// A pcapng packet of an interface that was not described.
        case unknownInterface
        /// Compressed data that cannot be expanded.
        case badCompression
    }

    /// What kind of thing is wrong.
    public var kind: Kind
    /// Where: the offset in bytes from the start of the file, or of what a compressed file holds (`isExpanded`).
    public var offset: Int
    /// What should have been there.
    public var expected: String
    /// What was there.
    public var found: String
    /// Whether the offset counts the bytes that come out of a compressed file, and not the file's own.
    public var isExpanded = false
}

extension CaptureError: CustomStringConvertible {
    /// For people: `byte 24: expected a 16-byte record header, found 3 bytes`.
    public var description: String {
        "byte \(offset)\(isExpanded ? " of the expanded file" : ""): expected \(expected), found \(found)"
    }
}
