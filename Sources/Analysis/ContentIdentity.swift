import Framing
import Streams

/// The identity of a value or of bytes for comparison: the bytes themselves, or, for more than `longest`, their count and 128
/// bits of a hash whose key is random per process.
enum ContentIdentity: Hashable {
    /// Up to 15 bytes, and zeros; their count is the last byte.
    case short(UInt64, UInt64)
    /// Up to `longest` bytes.
    case bytes([UInt8])
    /// The count, and the hash.
    case hashed([Int])

    /// How many bytes are kept.
    static let longest = 128

    /// The identity of some bytes.
    init(_ content: RawSpan) {
        let count = content.byteCount
        switch count {
        case ...15:
            var words: (UInt64, UInt64) = (0, UInt64(count) << 56)
            for index in 0..<count {
                let byte = UInt64(content[byte: index]) << (8 * UInt64(index & 7))
                if index < 8 { words.0 |= byte } else { words.1 |= byte }
            }
            self = .short(words.0, words.1)
        case ...Self.longest: self = .bytes(content.copied(0..<count))
        default:
            self = .hashed(
                [count]
                    + (0..<2).map { number in
                        var hasher = Hasher()
                        hasher.combine(number)
                        content.withUnsafeBytes { hasher.combine(bytes: $0) }
                        return hasher.finalize()
                    })
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
