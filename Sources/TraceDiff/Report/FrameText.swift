import Framing
import Streams
import Trace

/// An item as a human-readable line. Nothing of it reaches a terminal unless it is printable.
struct FrameText {
    /// The line without colours: `→ txt  {"size":"5"}  Hello`.
    static func of(_ item: RecordedItem, columns: Int) -> String {
        PrintableText.of(text(of: item), columns: max(8, columns))
    }

    private static func text(of item: RecordedItem) -> String {
        let arrow = item.from == .fromClient ? "→" : "←"
        switch item {
        case .frame(let frame):
            let fields = frame.fields == .object([]) ? "" : "  " + frame.fields.compactText
            let body = body(of: frame)
            return
                "\(arrow) \(frame.type ?? "-")\(frame.isHeartbeat ? " ♥" : "")\(fields)\(body.isEmpty ? "" : "  \(body)")"
        case .unframed(let run):
            return "\(arrow) \(Quantities.counted(run.length, "byte")) unframed (\(run.reason))  \(run.hex.prefix(64))"
        case .missing(let run): return "\(arrow) \(Quantities.counted(run.length, "byte")) missing"
        }
    }

    private static func body(of frame: FrameEvent) -> String {
        for form in ["text", "hex"] {
            if let text = frame.body[form]?.string { return String(text.prefix(200)) }
        }
        for form in ["json", "protobuf", "fields"] {
            if let value = frame.body[form] { return String(value.compactText.prefix(400)) }
        }
        return ""
    }
}
