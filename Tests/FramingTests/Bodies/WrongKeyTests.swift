import Framing
import Streams
import Testing

/// Bodies that look as if they were decrypted with another key.
@Suite struct WrongKeyTests {
    private static let resources = BodyResources(keys: ["mine": Array("0123456789abcdef".utf8)])

    private func encrypted(_ content: [UInt8], padding: String) throws -> [UInt8] {
        try bodies("{ aes: { padding: \(padding) } }", Self.resources).encode(.bytes(content), type: nil)
    }

    /// All bytes of the padding say how many they are: by chance the last one of 16 keys may be small, too.
    @Test func theLastByteAloneIsNoPadding() throws {
        let format = try bodies("[aes, text]", Self.resources)
        let text = Array("Hello, stranger".utf8)
        let right = try encrypted(text + [1], padding: "none")
        #expect(format.show(right) == Shown(.text, "Hello, stranger"))
        let wrong = try encrypted(text + [2], padding: "none")
        let shown = format.show(wrong)
        #expect(shown.form == .opaque && shown.bytes == wrong && shown.kinds == [.wrongKey])
    }

    /// In Latin-1 every byte is a character, but text has few control characters.
    @Test func bytesThatNobodyWritesAreNoLatin1() throws {
        let format = try bodies("[aes, { text: { charset: latin-1 } }]", Self.resources)
        #expect(try format.show(encrypted([0x63, 0x61, 0x66, 0xe9], padding: "pkcs7")) == Shown(.text, "café"))
        let wrong = try encrypted([0x48, 0, 0x9d, 0xe9, 7], padding: "pkcs7")
        let shown = format.show(wrong)
        #expect(shown.form == .opaque && shown.bytes == wrong && shown.kinds == [.wrongKey])
    }
}
