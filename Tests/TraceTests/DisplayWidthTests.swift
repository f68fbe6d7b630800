import Testing

@testable import Trace

/// Columns on a terminal (Unicode Standard Annex 11).
@Suite struct DisplayWidthTests {
    @Test(arguments: [
        ("", 0), ("Hello", 5), ("é", 1), ("e\u{301}", 1),
        ("心跳", 4), ("한글", 4), ("カタカナ", 8), ("ｶﾀｶﾅ", 4), ("ＡＢ", 4), ("　", 2), ("。", 2), ("，", 2),
        ("\u{1100}\u{1161}", 2),
        ("→ ← ● ○ ♥ ⚠ ℹ … · ␊ �", 21),
        ("😀", 2), ("🚀", 2), ("✅", 2), ("🇨🇳", 2), ("☃", 1), ("❤", 1),
        ("עברית", 5), ("ไทย", 3), ("กำ", 2), ("नमस्ते", 4), ("𠀀", 2),
    ])
    func text(text: String, columns: Int) {
        #expect(DisplayWidth.of(text) == columns)
    }

    /// The blocks' edges.
    @Test(arguments: [
        (UInt32(0x10ff), 1), (0x1100, 2), (0x115f, 2), (0x1160, 0), (0x11ff, 0), (0x2e7f, 1), (0x2e80, 2), (0x303e, 2),
        (0x303f, 1), (0x4dbf, 2), (0x4e00, 2), (0xa4cf, 2), (0xabff, 1), (0xac00, 2), (0xd7a3, 2), (0xf8ff, 1),
        (0xf900, 2), (0xff00, 1), (0xff01, 2), (0xff60, 2), (0xff61, 1), (0xffe0, 2), (0xffe7, 1), (0x1f000, 1),
        (0x1f004, 2), (0x1ffff, 1), (0x20000, 2), (0x3fffd, 2), (0x40000, 1),
    ])
    func scalar(value: UInt32, columns: Int) throws {
        #expect(DisplayWidth.of(try #require(Unicode.Scalar(value))) == columns)
    }
}
