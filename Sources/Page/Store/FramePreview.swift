import Framing
import Trace

/// A frame in a few words: its fields, and the beginning of its body.
enum FramePreview {
    /// At most how many columns it takes, and how many of them its fields.
    private static let columns = (all: 160, fields: 100)

    /// `sender=CinentA target=CinentB “Hello”`
    static func of(_ frame: FrameEvent) -> String {
        var text = ""
        if case .object(let fields) = frame.fields {
            for field in fields where text.utf8.count < 4 * columns.fields {
                // What lists show of a frame anyway, and headers as they came.
                if field.name == "raw" || field.value == .null || field.value.string == frame.type { continue }
                if field.value.string?.isEmpty == true { continue }
                text += "\(text.isEmpty ? "" : " ")\(field.name)="
                write(field.value, isQuoted: false, into: &text, limit: text.utf8.count + 64)
            }
        }
        text = PrintableText.of(text, columns: columns.fields)
        let body = body(frame.body)
        if body.isEmpty { return text }
        return PrintableText.of(text + (text.isEmpty ? "" : " ") + body, columns: columns.all)
    }

    private static func body(_ body: JSONValue) -> String {
        if let shown = body["text"]?.string { return shown.isEmpty ? "" : "“\(shown.prefix(columns.all))”" }
        if let hex = body["hex"]?.string {
            guard !hex.isEmpty else { return "" }
            let pairs = hex.utf8.prefix(16)
            var text = ""
            for (place, digit) in pairs.enumerated() {
                if place > 0, place % 2 == 0 { text += " " }
                text.unicodeScalars.append(Unicode.Scalar(digit))
            }
            return hex.utf8.count > 16 ? text + " …" : text
        }
        guard let value = body["json"] ?? body["protobuf"] ?? body["fields"] else { return "" }
        var text = ""
        write(value, isQuoted: true, into: &text, limit: 2 * columns.all)
        return text
    }

    /// Writes a value until there are enough bytes: a body may be long.
    private static func write(_ value: JSONValue, isQuoted: Bool, into text: inout String, limit: Int) {
        guard text.utf8.count < limit else { return }
        switch value {
        case .null: text += "null"
        case .boolean(let value): text += value ? "true" : "false"
        case .number(let digits): text += digits.prefix(limit)
        case .text(let value): text += isQuoted ? "\"\(value.prefix(limit))\"" : String(value.prefix(limit))
        case .array(let values):
            text += "["
            for (place, value) in values.enumerated() {
                if text.utf8.count >= limit { return }
                if place > 0 { text += "," }
                write(value, isQuoted: true, into: &text, limit: limit)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (place, member) in members.enumerated() {
                if text.utf8.count >= limit { return }
                text += place > 0 ? ",\(member.name):" : "\(member.name):"
                write(member.value, isQuoted: true, into: &text, limit: limit)
            }
            text += "}"
        }
    }
}
