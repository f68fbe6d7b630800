/// A violation of the capture file's format. Everything before it has been delivered.
package struct CaptureError: Error, Hashable, Sendable {
    /// What kind of violation it is.
    package enum Kind: Hashable, Sendable {
        /// The file does not begin like a capture.
        case notACapture
        /// The file begins like a trace of frametap.
        case trace
        /// The file is compressed in a way that is not read.
        case compressed(CaptureCompression)
        /// The file ends within a record.
        case truncated
        /// An impossible length field.
        case badLength
        /// A version, byte order or number unknown to this reader.
        case unknownVariant
        /// A pcapng packet of an undescribed interface.
        case unknownInterface
        /// More interfaces in a pcapng section than are read.
        case tooManyInterfaces
        /// Compressed data that cannot be expanded.
        case badCompression
    }

    /// What kind of violation it is.
    package var kind: Kind
    /// Where: the byte offset from the start of the file, or of a compressed file's content (`isExpanded`).
    package var offset: Int
    /// What should have been there.
    package var expected: String
    /// What was there.
    package var found: String
    /// Whether the offset counts the decompressed bytes, not those of the file itself.
    package var isExpanded = false

    /// How the file is compressed, if that is why it cannot be read.
    package var compression: CaptureCompression? {
        if case .compressed(let compression) = kind, !isExpanded { compression } else { nil }
    }
}

extension CaptureError: CustomStringConvertible {
    /// Human-readable: `byte 24: expected a 16-byte record header, found 3 bytes`.
    package var description: String {
        "byte \(offset)\(isExpanded ? " of the expanded file" : ""): expected \(expected), found \(found)"
    }
}
