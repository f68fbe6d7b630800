import Streams

/// Determines whether bytes that no encoding could decode may still reveal a secret to a reader.
enum SecretText {
    /// Whether the bytes are text, other than Base64 or hex, or hold one of the names in quotes.
    static func mayBe(in bytes: RawSpan, named names: [String]) -> Bool {
        guard bytes.byteCount > 0 else { return false }
        if bytes.isPrintable { return !isEncoded(bytes) }
        return bytes.withUnsafeBytes { haystack in
            names.contains { name in
                let quoted = Array("\"\(name)\"".utf8)
                return haystack.indices.contains { haystack[$0...].starts(with: quoted) }
            }
        }
    }

    /// Whether all bytes could be Base64 or hex digits: then they may be encrypted.
    private static func isEncoded(_ bytes: RawSpan) -> Bool {
        bytes.withUnsafeBytes { bytes in
            bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
                    UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "\r"), UInt8(ascii: "\n"):
                    true
                default: false
                }
            }
        }
    }
}
