import Streams

/// Bytes, sixteen per line: offset, hex, and the printable ones as text.
enum HexDump {
    /// Lines, each ended by LF.
    ///
    /// - Parameters:
    ///   - limit: how many bytes are shown.
    ///   - label: six columns before each line that label the bytes.
    ///   - offset: the offset of the first byte.
    ///   - more: how many more bytes follow that are not available.
    static func of(_ bytes: RawSpan, limit: Int, label: String, from offset: Int = 0, more: Int = 0) -> String {
        var text = ""
        let shown = min(bytes.byteCount, limit)
        for line in stride(from: 0, to: shown, by: 16) {
            let end = min(line + 16, shown)
            var hex = ""
            var ascii = ""
            for at in line..<end {
                let byte = bytes[byte: at]
                hex += (byte < 16 ? "0" : "") + String(byte, radix: 16) + (at - line == 7 ? "  " : " ")
                ascii.unicodeScalars.append((0x20..<0x7f).contains(byte) ? Unicode.Scalar(byte) : "·")
            }
            let place = String(offset + line, radix: 16)
            text += "\(label)  \(String(repeating: "0", count: max(0, 8 - place.utf8.count)))\(place)  "
            text += hex + String(repeating: " ", count: 50 - hex.utf8.count) + "|\(ascii)|\n"
        }
        if shown < bytes.byteCount + more {
            text += "\(label)  … \(Quantities.counted(bytes.byteCount - shown + more, "more byte"))\n"
        }
        return text
    }
}
