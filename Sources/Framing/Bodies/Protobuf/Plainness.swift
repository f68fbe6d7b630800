import Streams

/// How plain the bytes of a text are.
enum Plainness {
    /// Printable ASCII without quotes and backslashes: JSON has it as it is.
    case verbatim
    /// Valid UTF-8 without any control character.
    case text
    /// Anything else.
    case none
}

extension RawSpan {
    /// How plain the bytes are. Most texts are ASCII, which is decided eight bytes at a time.
    var plainness: Plainness {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var (controls, quotes, all): (UInt64, UInt64, UInt64) = (0, 0, 0)
        // The usual test for a zero byte in a word: exact for the word as a whole.
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        func look(at word: UInt64) {
            controls |= (word &- ones &* 0x20) & ~word | zeros(word ^ ones &* 0x7f)
            quotes |= zeros(word ^ ones &* 0x22) | zeros(word ^ ones &* 0x5c)
            all |= word
        }
        var at = 0
        while byteCount &- at >= 8 {
            look(at: unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        if at < byteCount, at > 0 {
            // The last eight: some of them once more.
            look(at: unsafeLoadUnaligned(fromUncheckedByteOffset: byteCount &- 8, as: UInt64.self))
        } else {
            // Each among spaces.
            for at in at..<byteCount { look(at: 0x2020_2020_2020_2000 | UInt64(self[unchecked: at])) }
        }
        if controls & tops != 0 { return .none }
        if all & tops == 0 { return quotes & tops == 0 ? .verbatim : .text }
        return firstInvalidUTF8() == nil ? .text : .none
    }
}
