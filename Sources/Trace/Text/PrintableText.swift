import Streams

/// Text from the network, made safe for a terminal.
package enum PrintableText {
    /// How many combining marks one character may have. More would extend into adjacent lines.
    private static let mostMarks = 4

    /// The text with control characters as pictures (`␊`, `␛`), and characters that could reorder the line or hide in it as `�`.
    ///
    /// - Parameter columns: truncated there, with `…` as the last column.
    package static func of(_ text: some StringProtocol, columns: Int = .max) -> String {
        let isPlain = text.utf8.withContiguousStorageIfAvailable {
            $0.count <= columns && $0.span.bytes.isPrintableASCII
        }
        if isPlain == true { return String(text) }
        var shown = String.UnicodeScalarView()
        var width = 0
        var marks = 0
        // The end of the longest part that leaves room for the ellipsis.
        var fitting = shown.endIndex
        for scalar in text.unicodeScalars {
            var safe = self.safe(scalar)
            marks = DisplayWidth.of(safe) == 0 ? marks + 1 : 0
            if marks > mostMarks { safe = "�" }
            width += DisplayWidth.of(safe)
            if width > columns { return String(shown[..<fitting]) + "…" }
            shown.append(safe)
            if width < columns { fitting = shown.endIndex }
        }
        return String(shown)
    }

    private static func safe(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        case 0..<0x20: return Unicode.Scalar(0x2400 + scalar.value) ?? "�"
        case 0x20..<0x7f: return scalar
        case 0x7f: return "␡"
        default: break
        }
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned, .privateUse: return "�"
        // Zero-width joiners make emoji; every other invisible character could reorder or hide text.
        case .format: return scalar == "\u{200d}" ? scalar : "�"
        default: return scalar
        }
    }
}

extension RawSpan {
    /// Whether the bytes are ASCII without control characters, which is decided eight bytes at a time.
    var isPrintableASCII: Bool {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        var others: UInt64 = 0
        // Sets the top bit of each byte that is not; a carry from it may set that of the next byte, too.
        func look(at word: UInt64) { others |= word | (word &- ones &* 0x20) | (word &+ ones) }
        var at = 0
        while byteCount &- at >= 8 {
            look(at: unsafeLoadUnaligned(fromUncheckedByteOffset: at, as: UInt64.self))
            at &+= 8
        }
        // Each of the rest among spaces.
        while at < byteCount {
            look(at: 0x2020_2020_2020_2000 | UInt64(self[unchecked: at]))
            at &+= 1
        }
        return others & tops == 0
    }
}
