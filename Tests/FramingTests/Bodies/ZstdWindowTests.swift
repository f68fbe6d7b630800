import Framing
import Streams
import Testing

/// Zstandard frames say how many bytes before a place their data refer to, which is how much memory reading them takes.
@Suite struct ZstdWindowTests {
    /// A frame of the five bytes of `hello`, not compressed, with a window of 2^(10 + exponent) · (1 + mantissa / 8) bytes (RFC 8878
    /// section 3.1.1.1.2): 8 MiB, 9 MiB, 16 MiB, and 1 GiB.
    @Test(arguments: [("68", true), ("69", false), ("70", false), ("a0", false)])
    func aLargeOneIsRefused(window: String, isRead: Bool) throws {
        let body = try bytes(hex: "28b52ffd00" + window + "29000068656c6c6f")
        let shown = try bodies("[zstd, text]").show(body)
        #expect(shown.kinds == (isRead ? [] : [.badBody]))
        #expect(shown.bytes == (isRead ? Array("hello".utf8) : body))
    }
}
