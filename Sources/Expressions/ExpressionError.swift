/// Why a text is not an expression or not a pattern, and where.
package struct ExpressionError: Error, Hashable, Sendable {
    /// The error, as a sentence without its location: ``expected a value, found `)` ``.
    package let message: String
    /// Where, in characters from 1; one more than the text has if it ended too early.
    package let column: Int
    /// What was expected, if that can be stated: `a value`.
    package let expected: String?
    /// What was found instead: `` `)` `` or `the end`.
    package let found: String?
    /// The whole text.
    package let source: String

    init(_ fault: Fault, in source: String) {
        self.source = source
        message = fault.message
        expected = fault.expected
        found = fault.found
        // The character that holds the scalar: combining marks have no column of their own.
        var scalars = 0
        var characters = 0
        for character in source {
            scalars += character.unicodeScalars.count
            characters += 1
            if scalars > fault.offset { break }
        }
        column = scalars > fault.offset ? characters : characters + 1
    }
}

extension ExpressionError: CustomStringConvertible {
    /// ``column 9: expected a value, found `)` ``.
    package var description: String { "column \(column): \(message)" }

    /// The description, the line of the text that it refers to, and below it a caret at the column.
    ///
    /// At most 60 characters on either side are shown. Control characters are shown as `·`, never sent to a terminal.
    package var rendered: String {
        let characters = Array(source)
        let place = min(column - 1, characters.count)
        var start = place
        while start > 0, !characters[start - 1].isNewline { start -= 1 }
        var end = place
        while end < characters.count, !characters[end].isNewline { end += 1 }
        let cutStart = max(start, place - 60)
        let cutEnd = min(end, place + 60)
        let line = characters[cutStart..<cutEnd].map(\.printable).joined()
        let before = (cutStart > start ? "…" : "") + characters[cutStart..<place].map(\.printable).joined()
        let padding = before.map { $0.isWide ? "  " : " " }.joined()
        return """
            \(description)
              \(cutStart > start ? "…" : "")\(line)\(cutEnd < end ? "…" : "")
              \(padding)^
            """
    }
}

/// An error with its location as an offset in Unicode scalars, before its text is known.
struct Fault: Error {
    let offset: Int
    let message: String
    var expected: String?
    var found: String?

    init(_ offset: Int, _ message: String) {
        self.offset = offset
        self.message = message
    }

    init(_ offset: Int, expected: String, found: String) {
        self.offset = offset
        self.expected = expected
        self.found = found
        message = "expected \(expected), found \(found)"
    }
}

extension Character {
    /// The character, made safe for a terminal.
    fileprivate var printable: String {
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate: return "·"
            case .format where scalar != "\u{200d}": return "·"
            default: continue
            }
        }
        return String(self)
    }

    /// Whether it takes two columns on a terminal: East-Asian wide characters and emoji, by their blocks.
    fileprivate var isWide: Bool {
        guard let scalar = unicodeScalars.first else { return false }
        switch scalar.value {
        case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe30...0xfe6f,
            0xff00...0xff60, 0xffe0...0xffe6, 0x1f300...0x1faff, 0x20000...0x3fffd:
            return true
        default: return false
        }
    }
}
