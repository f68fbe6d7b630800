import Framing
import Streams
import Trace

/// A changed value as human-readable lines: `body.text  "Hello" → "Hallo"`; bytes as a two-sided hex dump of the differences.
package struct ChangeText {
    /// Bytes per row of the dump, and how many rows are shown.
    private static let width = 8
    private static let mostRows = 16

    /// A line, or several; without indentation.
    ///
    /// - Parameter pathColumns: the width of the paths of the frame's changes.
    static func lines(_ change: FieldChange, pathColumns: Int, columns: Int) -> [String] {
        let path = PrintableText.of(change.path)
        let label = path + String(repeating: " ", count: max(0, pathColumns - DisplayWidth.of(path)))
        if change.path.hasSuffix("hex"), let old = change.old?.bytes, let new = change.new?.bytes {
            return ["\(label)  \(counted(old)) → \(counted(new))"] + dump(old, new)
        }
        let room = max(24, columns - pathColumns - 5)
        let (old, new) = shown(change.old, change.new, columns: room / 2)
        let note = change.note.map { "  (\($0))" } ?? ""
        return ["\(label)  \(old) → \(new)\(note)"]
    }

    /// A short line: of long values, where they differ.
    package static func line(_ change: FieldChange) -> String {
        let (old, new) = shown(change.old, change.new, columns: 60)
        return "\(PrintableText.of(change.path)) \(old) → \(new)"
    }

    private static func counted(_ bytes: [UInt8]) -> String { Quantities.counted(bytes.count, "byte") }

    /// Both values; of long texts the differing part, with a little context before it.
    private static func shown(_ old: JSONValue?, _ new: JSONValue?, columns: Int) -> (String, String) {
        guard case .text(let left)? = old, case .text(let right)? = new, max(left.count, right.count) + 2 > columns
        else { return (text(of: old, columns), text(of: new, columns)) }
        let same = zip(left, right).prefix { $0 == $1 }.count
        let skipped = max(0, same - 12)
        func part(_ text: String) -> String {
            let rest = JSONValue.text(String(text.dropFirst(skipped))).compactText
            return PrintableText.of((skipped > 0 ? "…" : "") + rest, columns: columns)
        }
        return (part(left), part(right))
    }

    private static func text(of value: JSONValue?, _ columns: Int) -> String {
        guard let value else { return "nothing" }
        return PrintableText.of(value.compactText, columns: columns)
    }

    /// Rows of both sides that differ: offset, expected bytes, actual bytes.
    private static func dump(_ old: [UInt8], _ new: [UInt8]) -> [String] {
        var lines: [String] = []
        var different = 0
        for start in stride(from: 0, to: max(old.count, new.count), by: width) {
            let left = old.dropFirst(start).prefix(width)
            let right = new.dropFirst(start).prefix(width)
            if left.elementsEqual(right) { continue }
            different += 1
            if different > mostRows { continue }
            let place = String(start, radix: 16)
            let offset = String(repeating: "0", count: max(0, 8 - place.count)) + place
            lines.append("  \(offset)  \(row(left))  │  \(row(right))")
        }
        if different > mostRows {
            lines.append("  … and \(different - mostRows) more rows of \(width) bytes that differ")
        }
        return lines
    }

    private static func row(_ bytes: ArraySlice<UInt8>) -> String {
        var hex: [UInt8] = []
        var ascii = ""
        for byte in bytes {
            JSONOutput.hex(byte, into: &hex)
            hex.append(UInt8(ascii: " "))
            ascii.unicodeScalars.append((0x20..<0x7f).contains(byte) ? Unicode.Scalar(byte) : "·")
        }
        let digits = String(decoding: hex, as: UTF8.self)
        return digits + String(repeating: " ", count: width * 3 - hex.count) + ascii
            + String(repeating: " ", count: width - bytes.count)
    }
}

extension JSONValue {
    /// The bytes that hex digits represent; otherwise nil.
    var bytes: [UInt8]? {
        if case .text(let digits) = self { Hexadecimal.bytes(digits.utf8) } else { nil }
    }
}
