import Framing
import Streams

/// The fields of a structured header in a few columns: `subject=orders.eu size=13`.
enum FieldPreview {
    /// Adds the fields that a reader looks for: text and what is inside lists and objects, but neither the type, which has a
    /// column of its own, nor header lines, which are many.
    static func add(
        _ format: DirectionFormat, _ bytes: RawSpan, _ shape: FrameShape, columns: Int, to piece: inout TextPiece,
        _ shown: ([Field]) -> [Field]
    ) {
        guard let head = format.layouts[shape.layout].head as? StructuredHead else { return }
        var text = ""
        for field in shown(format.fields(of: bytes, shape)) where field.name != StructuredHead.raw {
            if case .field(field.name) = format.typeName { continue }
            guard !head.isLines(field.name), let value = value(field.value) else { continue }
            text += "\(text.isEmpty ? "" : " ")\(field.name)=\(value)"
            if text.utf8.count > 4 * columns { break }
        }
        if text.isEmpty { return }
        if shape.body > 0 { text += "  " }
        piece.put(printable: Array(text.utf8).span.bytes, columns: columns)
    }

    private static func value(_ value: FieldValue) -> String? {
        switch value {
        case .json(let text): text
        case .text(let text): text.isEmpty ? nil : text
        // Numbers are for machines, and those of bits and lengths are many: -v shows them.
        default: nil
        }
    }
}
