import Framing
import Streams

/// The identity of a value or of bytes for comparison: the bytes themselves, or, for more than `longest`, their count and 128
/// bits of a hash whose key is random per process.
struct ContentIdentity: Hashable {
    /// The bytes; empty if there are too many to keep.
    private let bytes: [UInt8]
    private let count: Int
    private let hashes: [Int]

    /// How many bytes are kept.
    static let longest = 128

    /// The identity of some bytes.
    init(_ content: RawSpan) {
        count = content.byteCount
        if count <= Self.longest {
            bytes = content.copied(0..<count)
            hashes = []
        } else {
            bytes = []
            hashes = (0..<2).map { number in
                var hasher = Hasher()
                hasher.combine(number)
                content.withUnsafeBytes { hasher.combine(bytes: $0) }
                return hasher.finalize()
            }
        }
    }

    /// The identity of a text.
    init(_ text: String) {
        var text = text
        self = text.withUTF8 { ContentIdentity($0.span.bytes) }
    }

    /// The identity of a value: a number and a text of its digits are the same, as an id may be either. Nil for null.
    init?(_ value: FieldValue) {
        if case .bytes(let bytes) = value {
            self.init(bytes.span.bytes)
        } else if let text = value.plainText {
            self.init(text)
        } else {
            return nil
        }
    }
}
