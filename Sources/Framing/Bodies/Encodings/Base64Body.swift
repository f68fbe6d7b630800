import Streams

/// The encoding `base64` (RFC 4648): either alphabet, with or without padding; white space is ignored.
///
/// Written with padding, in the standard alphabet or with `alphabet: url` in the URL-safe one.
struct Base64Body: BodyEncoding {
    static let name = "base64"
    static let keys = KeySection(
        "body.base64", "bytes as Base64 (RFC 4648), read in either alphabet",
        [FormatKey("alphabet", .words(of: Alphabet.self), "the alphabet in which it is written", default: "standard")])

    /// The two alphabets.
    enum Alphabet: String, CaseIterable {
        case standard
        case url
    }

    private let alphabet: Alphabet

    init(_ options: YAMLMap?) {
        alphabet = options?.choice("alphabet", Alphabet.self) ?? .standard
    }

    var role: BodyRole { [] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        do throws(TextualBytesError) {
            return .bytes(try Base64.decode(input), .opaque)
        } catch {
            return .fault(.badBody, error.description)
        }
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        Base64.encode(content.bytes, alphabet: alphabet == .url ? Base64.url : Base64.standard)
    }
}

/// The encoding `base16`: two hexadecimal digits a byte, in either case; white space is ignored.
struct Base16Body: BodyEncoding {
    static let name = "base16"
    static let keys = KeySection("body.base16", "bytes as hexadecimal digits", [])

    init(_ options: YAMLMap?) {}

    var role: BodyRole { [] }

    func decode(_ input: RawSpan, _ context: BodyContext) -> BodyStep {
        do throws(TextualBytesError) {
            return .bytes(try Base16.decode(input), .opaque)
        } catch {
            return .fault(.badBody, error.description)
        }
    }

    func encode(_ content: BodyContent, type: String?) throws(EncodingError) -> [UInt8] {
        Base16.encode(content.bytes)
    }
}
