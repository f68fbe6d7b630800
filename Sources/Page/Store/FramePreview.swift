import Framing
import Trace

/// A frame in a few words: its fields, and the beginning of its body. `source/preview.js` writes the same.
///
/// Characters are Unicode scalars here: grapheme clusters may be of any length.
enum FramePreview {
    /// At most how many characters it has, and how many of them its fields, and one of them, take.
    private static let most = (all: 160, fields: 100, field: 64)

    /// `sender=CinentA target=CinentB “Hello”`
    static func of(_ frame: FrameEvent) -> String {
        var text = PreviewText(most.fields)
        if case .object(let fields) = frame.fields {
            for field in fields where !text.isFull {
                // What lists show of a frame anyway, and headers as they came.
                if field.name == "raw" || field.value == .null { continue }
                if let text = field.value.string, text.isEmpty || text == frame.type { continue }
                var (name, value) = (PreviewText(most.field), PreviewText(most.field))
                name.append(field.name)
                value.append(field.value, isQuoted: false)
                text.append((text.isEmpty ? "" : " ") + name.shown + "=" + value.shown)
            }
        }
        let body = body(frame.body)
        if text.isEmpty || body.isEmpty { return text.shown + body }
        var all = PreviewText(most.all)
        all.append(text.shown + " " + body)
        return all.shown
    }

    private static func body(_ body: JSONValue) -> String {
        var text = PreviewText(most.all)
        if let shown = body["text"]?.string {
            guard !shown.isEmpty else { return "" }
            text.append(shown)
            var quoted = PreviewText(most.all)
            quoted.append("“\(text.shown)”")
            return quoted.shown
        }
        if let hex = body["hex"]?.string {
            let digits = Array(hex.utf8.prefix(17))
            let pairs = stride(from: 0, to: min(16, digits.count), by: 2).map { start in
                String(decoding: digits[start..<min(start + 2, min(16, digits.count))], as: UTF8.self)
            }
            return pairs.joined(separator: " ") + (digits.count > 16 ? " …" : "")
        }
        guard let value = ["json", "protobuf", "fields"].lazy.compactMap({ body[$0] }).first(where: { $0 != .null })
        else { return "" }
        text.append(value, isQuoted: true)
        return text.shown
    }
}

/// Text with an end: what does not fit is not looked at, since a body may be long.
private struct PreviewText {
    private var scalars = String.UnicodeScalarView()
    private var count = 0
    private let most: Int

    init(_ most: Int) { self.most = most }

    var isEmpty: Bool { count == 0 }
    /// Whether there is more than there is room for.
    var isFull: Bool { count > most }

    /// The text; its last character is … if there was more.
    var shown: String { isFull ? String(String.UnicodeScalarView(scalars.prefix(most - 1))) + "…" : String(scalars) }

    mutating func append(_ text: String) {
        for scalar in text.unicodeScalars {
            if isFull { return }
            scalars.append(scalar)
            count += 1
        }
    }

    /// Adds a value without the marks that only programs need.
    mutating func append(_ value: JSONValue, isQuoted: Bool) {
        guard !isFull else { return }
        switch value {
        case .null: append("null")
        case .boolean(let value): append(value ? "true" : "false")
        case .number(let digits): append(digits)
        case .text(let value):
            if isQuoted { append("\"") }
            append(value)
            if isQuoted { append("\"") }
        case .array(let values):
            append("[")
            for (place, value) in values.enumerated() where !isFull {
                if place > 0 { append(",") }
                append(value, isQuoted: true)
            }
            append("]")
        case .object(let members):
            append("{")
            for (place, member) in members.enumerated() where !isFull {
                append((place > 0 ? "," : ""))
                append(member.name)
                append(":")
                append(member.value, isQuoted: true)
            }
            append("}")
        }
    }
}
